//! by-hand run, not committed
use amdinst_core::object::{container::open, lines::SourceMap, rewrite::*, *};
fn main() {
    for f in std::env::args().skip(1) {
        let b = std::fs::read(&f).unwrap();
        let t = std::time::Instant::now();
        let found = match open(&b) {
            Ok(f) => f,
            Err(e) => {
                println!("{f}: {e}");
                continue;
            }
        };
        println!("{f}: {} objects in {:?}", found.len(), t.elapsed());
        for e in found {
            let t = std::time::Instant::now();
            let id = e.target_id().to_owned();
            match CodeObject::parse(e.bytes.into_owned()) {
                Err(x) => println!("  {id}: {x}"),
                Ok(o) => {
                    let p = t.elapsed();
                    let t = std::time::Instant::now();
                    let m = SourceMap::new(&o).unwrap();
                    let l = t.elapsed();
                    let mut text = [0u8, 0, 0x80, 0xbf].repeat(64);
                    text.extend(o.text_bytes());
                    let d = text_address(&o) + 256 - o.text.address;
                    let kernels = o
                        .kernels
                        .iter()
                        .map(|k| {
                            let mut kd = k.descriptor;
                            let off = k.metadata.kernarg_segment_size.next_multiple_of(8);
                            kd.set_kernarg_size(off + 8);
                            KernelEdit {
                                kernel: k.name.clone(),
                                descriptor: kd,
                                metadata: MetadataEdit {
                                    kernarg_segment_size: Some(off + 8),
                                    append_args: vec![KernelArg {
                                        name: Some("amdinst_buffer".into()),
                                        offset: off,
                                        size: 8,
                                        value_kind: "global_buffer".into(),
                                        address_space: Some("global".into()),
                                    }],
                                    ..Default::default()
                                },
                            }
                        })
                        .collect();
                    let t = std::time::Instant::now();
                    let r = rewrite(&o, &Edit { text, address_map: &|a, _| Some(a + d), kernels });
                    println!(
                        "  {id}: v{} {} kernels {} functions text {} parse {p:?} lines {} {l:?} rewrite {:?} {}",
                        o.version,
                        o.kernels.len(),
                        o.functions.len(),
                        o.text.range.len(),
                        m.rows().len(),
                        t.elapsed(),
                        match &r {
                            Ok(b) => format!("{} bytes", b.len()),
                            Err(e) => e.to_string(),
                        }
                    );
                    if let Ok(b) = r {
                        let n = format!("/tmp/obj/out-{}.elf", id.replace(':', "_"));
                        std::fs::write(n, b).unwrap();
                    }
                }
            }
        }
    }
}
