//! The program of the guide's page "Port a CPU loop".

/// Each pixel becomes the mean of the 3 by 3 pixels around it, as far as they lie in the image.
pub fn blur(image: &[u32], width: usize) -> Vec<u32> {
    let height = image.len() / width;
    let mut blurred = vec![0; image.len()];
    for y in 0..height {
        for x in 0..width {
            let (mut sum, mut count) = (0, 0);
            for row in y.saturating_sub(1)..height.min(y + 2) {
                for column in x.saturating_sub(1)..width.min(x + 2) {
                    sum += image[row * width + column];
                    count += 1;
                }
            }
            blurred[y * width + x] = sum / count;
        }
    }
    blurred
}
