//! A hang in a process in which nothing was unwound before. It needs a process of its own.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use intermezzo_explorer::Explorer;

/// The bytes of the alternate stack that the test provides.
const BYTES: usize = 256 << 10;
/// The value of the bytes that no handler has used.
const UNUSED: u8 = 0xA5;

/// Explores a test that hangs. Returns the number of bytes that the handler of the signal used of its stack.
fn stack_of_the_handler() -> usize {
    let stack: &'static mut [u8] = vec![UNUSED; BYTES].leak();
    let begin = stack.as_mut_ptr() as usize;
    let report = Explorer::new().set("hang", "0.2").explore(move || {
        let ours = libc::stack_t {
            ss_sp: begin as *mut libc::c_void,
            ss_flags: 0,
            ss_size: BYTES,
        };
        // SAFETY: the memory is never freed, and read only after the thread has ended.
        assert_eq!(unsafe { libc::sigaltstack(&ours, std::ptr::null_mut()) }, 0);
        loop {
            std::hint::spin_loop();
        }
    });
    let kinds: Vec<_> = report
        .findings()
        .iter()
        .map(|finding| finding.kind.to_string())
        .collect();
    assert_eq!(kinds, ["hang"], "{report}");
    // SAFETY: the thread whose handlers used it has ended.
    let bytes = (0..BYTES).take_while(|at| unsafe { ((begin + at) as *const u8).read_volatile() } == UNUSED);
    BYTES - bytes.count()
}

/// The first walk of the unwinder binds its functions, which takes more stack the more registers the processor has. Std's
/// alternate stack has no room for it on some, so it has to happen before.
#[test]
fn the_first_hang_takes_no_more_stack_than_the_next() {
    let (first, next) = (stack_of_the_handler(), stack_of_the_handler());
    assert!(0 < next && next < BYTES, "{next} bytes");
    assert!(first <= next + 256, "{first} bytes, and then {next}");
}
