//! Writes archives of HIP Record & Replay, format version 3, from the format's description: not by the code
//! that reads them.

use std::fs;
use std::path::{Path, PathBuf};

/// Numbers of functions.
pub(crate) mod function {
    pub(crate) const REGISTER_FAT_BINARY: u16 = 2;
    pub(crate) const EVENT_RECORD: u16 = 90;
    pub(crate) const FREE: u16 = 99;
    pub(crate) const GRAPH_LAUNCH: u16 = 175;
    pub(crate) const HOST_MALLOC: u16 = 206;
    pub(crate) const MALLOC: u16 = 224;
    pub(crate) const MEMCPY: u16 = 271;
    pub(crate) const MEMCPY_DTOD: u16 = 282;
    pub(crate) const MEMCPY_DTOH: u16 = 284;
    pub(crate) const MEMCPY_HTOD_ASYNC: u16 = 291;
    pub(crate) const MEMCPY_TO_SYMBOL: u16 = 297;
    pub(crate) const MEMSET: u16 = 300;
    pub(crate) const MEMSET_D32_ASYNC: u16 = 309;
    pub(crate) const MODULE_GET_FUNCTION: u16 = 315;
    pub(crate) const MODULE_GET_GLOBAL: u16 = 317;
    pub(crate) const MODULE_LAUNCH_KERNEL: u16 = 321;
    pub(crate) const MODULE_LOAD_DATA: u16 = 323;
    pub(crate) const STREAM_CREATE: u16 = 356;
    pub(crate) const STREAM_SYNCHRONIZE: u16 = 369;
}

/// The two halves of a hash of contents.
pub(crate) fn hash(bytes: &[u8]) -> (u64, u64) {
    let (mut low, mut high) = (0xcbf2_9ce4_8422_2325_u64, 0x0100_0000_01b3_u64);
    for byte in bytes {
        low = (low ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        high = (high ^ u64::from(*byte)).wrapping_mul(0xcbf2_9ce4_8422_2325);
    }
    (low, high)
}

/// An argument of a launch.
pub(crate) enum Argument {
    Pointer(u64),
    Word(u32),
}

/// An archive in the making.
pub(crate) struct Writer {
    pub(crate) root: PathBuf,
    pub(crate) log: Vec<u8>,
    pub(crate) calls: u64,
    pub(crate) version: u16,
}

impl Writer {
    pub(crate) fn new(root: &Path) -> Self {
        fs::create_dir_all(root.join("blobs")).unwrap();
        fs::create_dir_all(root.join("code_objects")).unwrap();
        Self { root: root.to_owned(), log: Vec::new(), calls: 0, version: 3 }
    }

    /// Adds an event. Returns the call's number.
    pub(crate) fn event(&mut self, function: u16, fields: &[u8]) -> u64 {
        let number = self.calls;
        self.calls += 1;
        self.log.extend(function.to_le_bytes());
        self.log.extend(number.to_le_bytes());
        self.log.extend((1000 + number).to_le_bytes());
        self.log.extend(77_u64.to_le_bytes());
        self.log.extend((32 + fields.len() as u16).to_le_bytes());
        self.log.extend([0; 4]);
        self.log.extend(fields);
        number
    }

    /// Adds an event whose fields are the result, 0, and these longs.
    pub(crate) fn longs(&mut self, function: u16, longs: &[u64]) -> u64 {
        let mut fields = vec![0; 4];
        longs.iter().for_each(|long| fields.extend(long.to_le_bytes()));
        self.event(function, &fields)
    }

    pub(crate) fn malloc(&mut self, at: u64, bytes: u64) -> u64 {
        self.longs(function::MALLOC, &[at, bytes])
    }

    /// Writes contents into their file.
    pub(crate) fn blob(&self, bytes: &[u8]) -> (u64, u64) {
        let (low, high) = hash(bytes);
        let name = format!("{low:016x}{high:016x}");
        let folder = self.root.join("blobs").join(&name[..2]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.blob")), bytes).unwrap();
        (low, high)
    }

    pub(crate) fn code(&self, bytes: &[u8]) -> (u64, u64) {
        let (low, high) = hash(bytes);
        fs::write(self.root.join("code_objects").join(format!("{low:016x}{high:016x}.hsaco")), bytes)
            .unwrap();
        (low, high)
    }

    fn memcpy(&mut self, (to, from, bytes): (u64, u64, u64), direction: u32, (low, high): (u64, u64)) -> u64 {
        let mut fields = vec![0; 4];
        for long in [to, from, bytes] {
            fields.extend(long.to_le_bytes());
        }
        fields.extend(direction.to_le_bytes());
        for long in [low, high] {
            fields.extend(long.to_le_bytes());
        }
        self.event(function::MEMCPY, &fields)
    }

    /// A copy to the GPU.
    pub(crate) fn copy_in(&mut self, to: u64, bytes: &[u8]) -> u64 {
        let blob = self.blob(bytes);
        self.memcpy((to, 0x1000, bytes.len() as u64), 1, blob)
    }

    /// A copy from the GPU, which gave these bytes.
    pub(crate) fn copy_out(&mut self, from: u64, bytes: &[u8]) -> u64 {
        let blob = self.blob(bytes);
        self.memcpy((0x2000, from, bytes.len() as u64), 2, blob)
    }

    pub(crate) fn load(&mut self, module: u64, code: &[u8]) -> (u64, u64) {
        let (low, high) = self.code(code);
        let mut fields = vec![0; 4];
        for long in [module, 0x5000, low, high] {
            fields.extend(long.to_le_bytes());
        }
        fields.extend(0_u32.to_le_bytes());
        self.event(function::MODULE_LOAD_DATA, &fields);
        (low, high)
    }

    pub(crate) fn launch(
        &mut self,
        kernel: &str,
        (low, high): (u64, u64),
        sizes: [[u32; 3]; 2],
        arguments: &[Argument],
    ) -> u64 {
        let mut fields = 9_u64.to_le_bytes().to_vec();
        fields.extend((kernel.len() as u16).to_le_bytes());
        fields.extend(kernel.as_bytes());
        fields.extend(low.to_le_bytes());
        fields.extend(high.to_le_bytes());
        sizes.iter().flatten().for_each(|size| fields.extend(size.to_le_bytes()));
        fields.extend(0_u32.to_le_bytes());
        fields.extend((arguments.len() as u16).to_le_bytes());
        fields.extend(0_u16.to_le_bytes());
        for argument in arguments {
            let (kind, bytes) = match argument {
                Argument::Pointer(address) => (1, address.to_le_bytes().to_vec()),
                Argument::Word(word) => (0, word.to_le_bytes().to_vec()),
            };
            fields.push(kind);
            fields.extend((bytes.len() as u16).to_le_bytes());
            fields.extend(bytes);
        }
        self.event(function::MODULE_LAUNCH_KERNEL, &fields)
    }

    /// Writes the log; with the mark of a program that ended well.
    pub(crate) fn finish(mut self) -> PathBuf {
        let events = self.calls;
        let mut fields = events.to_le_bytes().to_vec();
        fields.extend(b"HEOF");
        self.event(0xffff, &fields);
        self.finish_torn(0)
    }

    /// Writes the log without its last bytes.
    pub(crate) fn finish_torn(self, without: usize) -> PathBuf {
        let mut file = 0x5252_4845_u32.to_le_bytes().to_vec();
        file.extend(self.version.to_le_bytes());
        file.extend([0; 2]);
        file.extend(&self.log[..self.log.len() - without]);
        fs::write(self.root.join("events.bin"), file).unwrap();
        self.root
    }
}

/// Numbers as bytes.
pub(crate) fn words(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_le_bytes).collect()
}
