use harness::Device;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Body {
    pub mass: f32,
}

fn test(device: &Device) {
    let _ = device.buffer(&[Body { mass: 1.0 }]);
    let _ = device.zeroed::<bool>(64);
}

fn main() {}
