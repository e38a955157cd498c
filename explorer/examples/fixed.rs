use intermezzo_explorer::{*, sync::atomic::{AtomicUsize, Ordering::SeqCst}};
struct R(u64);
impl search::Strategy for R {
  fn next(&mut self, c: &mut Vec<schedule::Choice>)->bool{ c.clear(); self.0-=1; self.0>0 }
  fn choose(&mut self,_:&search::ChoicePoint<'_>)->Option<u32>{Some(0)}
  fn coverage(&self,_:bool)->Coverage{Coverage::Exhaustive}
  fn name(&self)->String{"r".into()}
}
fn main(){
  let t: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1);
  let k: usize = std::env::args().nth(2).and_then(|a| a.parse().ok()).unwrap_or(4);
  let n: u64 = std::env::args().nth(3).and_then(|a| a.parse().ok()).unwrap_or(u64::MAX);
  let r=Explorer::new().strategy(Strategy::custom(R(n))).explore(||{
    let x=std::sync::Arc::new(AtomicUsize::new(0));
    let hs: [_;4]=std::array::from_fn(|i| (i<t).then(||{let x=x.clone();thread::spawn(move||{for _ in 0..k {x.fetch_add(1,SeqCst);}})}));
    for h in hs{ if let Some(h)=h {h.join().unwrap();}}
  });
  println!("{} execs {:?} {:.0}/s", r.executions(), r.elapsed()/r.executions() as u32, r.executions() as f64/r.elapsed().as_secs_f64());
}
