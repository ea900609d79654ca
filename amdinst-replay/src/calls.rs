//! What recorded programs did, whoever recorded it.

use std::fmt;

use crate::hash::ContentHash;

/// An address of the recorded process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub u64);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Contents that an archive has in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataName {
    /// A buffer by its hash.
    Blob(ContentHash),
    /// A code object by its hash.
    Code(ContentHash),
    /// A file by its name in the folder.
    File(String),
}

impl DataName {
    /// The file's name in the archive's folder. It is made of digits where the archive gives a hash.
    pub fn file(&self) -> String {
        match self {
            Self::Blob(hash) => {
                let hash = hash.to_string();
                format!("blobs/{}/{hash}.blob", &hash[..2])
            }
            Self::Code(hash) => format!("code_objects/{hash}.hsaco"),
            Self::File(name) => name.clone(),
        }
    }

    /// The hash that its contents should have.
    pub const fn hash(&self) -> Option<ContentHash> {
        match self {
            Self::Blob(hash) | Self::Code(hash) => Some(*hash),
            Self::File(_) => None,
        }
    }
}

/// A call of the recorded program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number, as the recorder gave it.
    pub number: u64,
    /// The thread that made it.
    pub thread: u64,
    /// The stream that it is for, if it names one.
    pub stream: Option<u64>,
    /// The function's name.
    pub name: &'static str,
    /// Its effect.
    pub call: Call,
}

/// What a call did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// It allocated memory that the GPU reaches.
    Allocate {
        /// Where.
        at: Address,
        /// How much.
        bytes: u64,
        /// It is the host's memory: the program writes to it without a call.
        is_host: bool,
    },
    /// It freed memory.
    Free {
        /// Where.
        at: Address,
    },
    /// It copied from the host to the GPU.
    CopyIn {
        /// To where.
        to: Address,
        /// From where on the host.
        from: Address,
        /// How much.
        bytes: u64,
        /// The bytes, if the archive has them.
        data: Option<DataName>,
    },
    /// It copied from the GPU to the host.
    CopyOut {
        /// From where.
        from: Address,
        /// To where on the host.
        to: Address,
        /// How much.
        bytes: u64,
        /// The bytes from the GPU, if the archive has them.
        data: Option<DataName>,
    },
    /// It copied from and to memory of which the call does not say whose it is, or within the GPU's.
    Copy {
        /// From where.
        from: Address,
        /// To where.
        to: Address,
        /// How much.
        bytes: u64,
    },
    /// It filled memory.
    Fill {
        /// The first row.
        to: Address,
        /// Each element's bytes, little-endian.
        element: Vec<u8>,
        /// Elements of a row.
        count: u64,
        /// Rows.
        rows: u64,
        /// Bytes from one row to the next.
        pitch: u64,
    },
    /// It loaded code.
    Load {
        /// The module's handle.
        module: u64,
        /// The code object, or a file that has some.
        code: DataName,
    },
    /// It unloaded code.
    Unload {
        /// The module's handle.
        module: u64,
    },
    /// It asked where a variable of a module is. Its name is not recorded.
    FindVariable {
        /// The module's handle.
        module: u64,
        /// The answer.
        at: Address,
    },
    /// A variable of loaded code gets a value.
    SetVariable {
        /// The module's handle.
        module: u64,
        /// Its symbol.
        name: String,
        /// How much.
        bytes: u64,
        /// The value.
        data: DataName,
    },
    /// It launched a kernel.
    Launch(Box<LaunchCall>),
    /// What follows on its stream is not done, but becomes part of a graph.
    BeginGraph,
    /// The graph is complete.
    EndGraph,
    /// It orders others, or asks for something: calls are replayed in their order, one after another.
    Order,
    /// It had failed in the recorded program.
    Failed,
    /// It is not replayed: why.
    Unknown(String),
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchCall {
    /// The kernel's name.
    pub kernel: String,
    /// Its code object, if the archive says which.
    pub code: Option<DataName>,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// LDS of a workgroup besides the kernel's own, or all of it.
    pub lds: Lds,
    /// Its arguments.
    pub arguments: Arguments,
}

/// LDS of a workgroup, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lds {
    /// LDS beyond the kernel's own.
    Added(u32),
    /// The kernel's own is in it.
    All(u32),
}

/// The arguments of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// Those that the source has, in their order.
    Values(Vec<Value>),
    /// The kernarg segment.
    Segment {
        /// The file that has it.
        data: DataName,
        /// How many bytes.
        bytes: u64,
    },
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its kind.
    pub kind: ValueKind,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A number or a structure.
    Plain,
    /// A pointer to memory of the GPU.
    Pointer,
    /// One that a runtime fills in.
    Hidden,
    /// A structure with pointers at these offsets.
    WithPointers(Vec<u16>),
}
