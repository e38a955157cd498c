use intermezzo_explorer::{*, sync::atomic::{AtomicUsize, Ordering::SeqCst}};
use std::sync::Arc;
fn main(){
  for _ in 0..3 {
  let r=Explorer::new().explore(||{
    let x=Arc::new(AtomicUsize::new(0));
    let hs:Vec<_>=(0..3).map(|_|{let x=x.clone();thread::spawn(move||{x.fetch_add(1,SeqCst);x.fetch_add(1,SeqCst);})}).collect();
    for h in hs{h.join().unwrap();}
  });
  println!("{r}{:?} {:?}", r.elapsed()/r.executions() as u32, r.steps());
  }
  let r=Explorer::new().explore(||{
    let x=Arc::new(AtomicUsize::new(0));
    let hs:Vec<_>=(0..3).map(|_|{let x=x.clone();thread::spawn(move||{for _ in 0..4 {x.fetch_add(1,SeqCst);}})}).collect();
    for h in hs{h.join().unwrap();}
  });
  println!("{r}{:?} {:.0}/s {:?}", r.elapsed()/r.executions() as u32, r.executions() as f64/r.elapsed().as_secs_f64(), r.steps());
  let r=Explorer::new().explore(||{
    let n=Arc::new(AtomicUsize::new(0));
    let t={let n=n.clone();thread::spawn(move||{let v=n.load(SeqCst);n.store(v+1,SeqCst);})};
    let v=n.load(SeqCst);n.store(v+1,SeqCst);
    t.join().unwrap();
    assert_eq!(n.load(SeqCst),2);
  });
  println!("{r}");
  let r=Explorer::new().explore(||{
    let a=Arc::new(sync::Mutex::new(0)); let b=Arc::new(sync::Mutex::new(0));
    let t={let (a,b)=(a.clone(),b.clone());thread::spawn(move||{let x=a.lock().unwrap();let y=b.lock().unwrap();let _=*x+*y;})};
    let y=b.lock().unwrap();let x=a.lock().unwrap();
    let _=*x+*y;
    drop((x,y));
    t.join().unwrap();
  });
  println!("{r}");
}
