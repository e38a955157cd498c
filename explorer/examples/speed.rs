use intermezzo_explorer::{*, sync::atomic::{AtomicUsize, Ordering::SeqCst}};
use std::sync::Arc;
fn main(){
  let k: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(4);
  let n: u64 = std::env::args().nth(2).and_then(|a| a.parse().ok()).unwrap_or(u64::MAX);
  let r=Explorer::new().executions(n).explore(||{
    let x=Arc::new(AtomicUsize::new(0));
    let hs:Vec<_>=(0..3).map(|_|{let x=x.clone();thread::spawn(move||{for _ in 0..k {x.fetch_add(1,SeqCst);}})}).collect();
    for h in hs{h.join().unwrap();}
  });
  println!("{} execs {:?} {:.0}/s steps {:?}", r.executions(), r.elapsed()/r.executions() as u32, r.executions() as f64/r.elapsed().as_secs_f64(), r.steps());
}
