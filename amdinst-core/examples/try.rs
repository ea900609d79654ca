use amdinst_core::{instrument::*, object::CodeObject};
fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap();
    let counters = match args.next().as_deref() {
        Some("register") => Counters::Register,
        Some("global") => Counters::Global,
        _ => Counters::Auto,
    };
    let out = args.next();
    let object = CodeObject::parse(std::fs::read(&file).unwrap()).unwrap();
    let t = std::time::Instant::now();
    let plan = plan(&object, &Options { counters, ..Default::default() }).unwrap();
    eprintln!("plan {:?}", t.elapsed());
    for k in plan.kernels() {
        println!("{} home {:?} ({}) stride {} cost {:?}", k.name, k.home, k.why, k.record_stride, k.cost);
        for s in &k.sites {
            println!(
                "  {} {:?} {:#x} {} depth {} in {} else {:x?}",
                s.id, s.kind, s.pc, s.instruction, s.loop_depth, s.function, s.else_pcs
            );
        }
        if std::env::var("V").is_ok() {
            for w in &k.exec_writes {
                println!("    w {:#x} {:?}", w.pc, w.class);
            }
            for w in &k.uniform {
                println!("    u {:#x} {}", w.pc, w.instruction);
            }
        }
        for r in &k.refusals {
            println!("  REFUSED {:x?} {:?} {}", r.pc, r.reason, r.detail);
        }
    }
    if let Some(out) = out {
        let t = std::time::Instant::now();
        let i = apply(&object, &plan).unwrap();
        eprintln!("apply {:?}", t.elapsed());
        std::fs::write(out, i.bytes).unwrap();
    }
}
