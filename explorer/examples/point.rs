use intermezzo_explorer::{*, sync::atomic::{AtomicUsize, Ordering::SeqCst}};
fn main(){
  let t: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1);
  let k: usize = std::env::args().nth(2).and_then(|a| a.parse().ok()).unwrap_or(4);
  let n: u64 = std::env::args().nth(3).and_then(|a| a.parse().ok()).unwrap_or(u64::MAX);
  let r=Explorer::new().executions(n).explore(||{
    let x=AtomicUsize::new(0);
    thread::scope(|s| for _ in 0..t { s.spawn(||{for _ in 0..k {x.fetch_add(1,SeqCst);}}); });
  });
  println!("{} execs {:?} {:.0}/s steps {:?} switches {}", r.executions(), r.elapsed()/r.executions() as u32, r.executions() as f64/r.elapsed().as_secs_f64(), r.steps(), r.context_switches());
}
