//! Arrays in sources written by hand, and the names of their elements.

use super::*;

/// Returns the names of variables that a source uses at its `@`, in order of their offsets. Each mark has the offset of
/// its variable; all variables have 16 bytes.
fn names_in(kind: &str, source: &str, offsets: &[usize]) -> String {
    let order: Vec<(usize, usize, u64)> = (0..offsets.len()).map(|at| (at, offsets[at], 0)).collect();
    names_of(kind, source, &order, false)
}

/// Returns such names for an execution: the mark of each event, the offset of its variable, and the value that it reads.
/// The values are those of the events if they `tell`.
fn names_of(kind: &str, source: &str, events: &[(usize, usize, u64)], tell: bool) -> String {
    let mut vars: BTreeMap<usize, String> = BTreeMap::new();
    for (_, offset, _) in events {
        let next = format!("{kind} 0.{}", vars.len() + 1);
        vars.entry(*offset).or_insert(next);
    }
    let layout = Layout::new(
        vars.iter()
            .map(|(offset, var)| (var.clone(), 0x10_0000 + offset, 16)),
    );
    let mut marks: Vec<String> = Vec::new();
    let mut text = String::new();
    for part in source.split('@') {
        if !text.is_empty() {
            marks.push(format!("a.rs:1:{}", text.chars().count() + 1));
        }
        text.push_str(part);
    }
    let mut files = SourceFiles::of("a.rs", text);
    let seen = events.iter().map(|(mark, _, read)| Seen {
        task: "main",
        site: &marks[*mark],
        read: Some(*read),
    });
    let seen: Vec<_> = seen.filter(|_| tell).collect();
    let uses = events
        .iter()
        .enumerate()
        .map(|(at, (mark, offset, _))| (&*vars[offset], &*marks[*mark], Some(at)));
    let names = of_uses((uses.collect(), &seen), &[], &layout, &mut files);
    let name = |var: &String| names.get(var).map_or("-", String::as_str).to_owned();
    vars.values().map(name).collect::<Vec<_>>().join(" ")
}

/// Kind, source, the offset of the variable at each mark, and the names in order of the offsets.
const ELEMENTS: &[(&str, &str, &[usize], &str)] = &[
    // Fields.
    (
        "atomic",
        "struct D { flags: [AtomicU64; 2], turn: AtomicU64 } impl D { fn lock(&self, me: usize) { self.flags[me].@store(1); self.flags[1 - me].@load(); } }",
        &[16, 0],
        "flags[0] flags[1]",
    ),
    // Nothing shows that both are in one array: the next one may begin right behind it.
    (
        "atomic",
        "struct D { flags: [AtomicU64; 2] } impl D { fn lock(&self, me: usize) { self.flags[me].@store(1); self.flags[1 - me].@load(); } }",
        &[0, 16],
        "flags#1 flags#2",
    ),
    // Two arrays, of which one element each was used.
    (
        "atomic",
        "struct D { flags: [AtomicU64; 2], turn: AtomicU64 } impl D { fn lock(&self, me: usize) { self.flags[me].@store(1); self.flags[1 - me].@load(); } }",
        &[0, 48],
        "flags#1 flags#2",
    ),
    // Not all are used, and the source has the index of one.
    (
        "atomic",
        "const SIZE: usize = 4; struct Q { top: AtomicUsize, items: [AtomicUsize; SIZE] } impl Q { fn f(&self, i: usize) { self.items[1].@load(); self.items[i].@load(); self.items[i % SIZE].@load(); } }",
        &[16, 48, 48],
        "items[1] items[3]",
    ),
    (
        "atomic",
        "struct Q { top: AtomicUsize, items: [AtomicUsize; 4] } impl Q { fn f(&self, i: usize) { self.items[i].@load(); self.items[i].@load(); } }",
        &[0, 16],
        "items#1 items#2",
    ),
    // The index and the memory disagree: the elements have moved.
    (
        "atomic",
        "struct Q { top: AtomicUsize, items: [AtomicUsize; 4] } impl Q { fn f(&self, i: usize) { self.items[0].@load(); self.items[2].@load(); self.items[i].@load(); } }",
        &[16, 32, 0],
        "items[_] items[0] items[2]",
    ),
    // A variable that is two elements is none.
    (
        "atomic",
        "struct Q { top: AtomicUsize, items: [AtomicUsize; 2] } impl Q { fn f(&self, i: usize) { self.items[0].@load(); self.items[1].@load(); self.items[i].@load(); } }",
        &[0, 0, 16],
        "items[0] items[_]",
    ),
    // Nested fields.
    (
        "atomic",
        "struct Slot { seq: AtomicUsize, value: u8 } struct Ring { slots: [Slot; 3], tail: AtomicUsize } impl Ring { fn push(&self, i: usize) { self.tail.@load(); self.slots[i & 3].seq.@load(); self.slots[i].seq.@store(i); self.slots[i].seq.@load(); } }",
        &[500, 0, 24, 48],
        "slots[0].seq slots[1].seq slots[2].seq tail",
    ),
    // There are two rings.
    (
        "atomic",
        "struct Slot { seq: AtomicUsize } struct Ring { slots: [Slot; 2], tail: AtomicUsize } impl Ring { fn push(&self, i: usize) { self.tail.@load(); self.tail.@load(); self.slots[i].seq.@load(); self.slots[i].seq.@load(); } }",
        &[500, 600, 0, 24],
        "slots#1.seq slots#2.seq tail#1 tail#2",
    ),
    // The numbers in the source show the distance.
    (
        "atomic",
        "struct Slot { seq: AtomicUsize } struct Ring { slots: [Slot; 4] } impl Ring { fn push(&self, i: usize) { self.slots[0].seq.@load(); self.slots[2].seq.@load(); self.slots[i].seq.@load(); } }",
        &[0, 48, 24],
        "slots[0].seq slots[1].seq slots[2].seq",
    ),
    (
        "atomic",
        "struct Inner { cells: [AtomicU8; 2], len: AtomicU8 } struct Q { inner: Arc<Inner> } impl Q { fn f(&self, i: usize) { let inner: &Inner = &self.inner; inner.cells[i].@load(); inner.cells[i].@load(); } }",
        &[0, 16],
        "cells[0] cells[1]",
    ),
    // A field of another struct that has the same name.
    (
        "atomic",
        "struct Inner { cells: [AtomicU8; 2], len: AtomicU8 } impl Q { fn f(&self, i: usize) { self.cells[i].@load(); self.cells[i].@load(); } }",
        &[0, 16],
        "cells#1 cells#2",
    ),
    // Two structs with one field, and a local array of its name that grows.
    (
        "atomic",
        "struct Link { next: AtomicU8, a: u8 } struct Stack { next: [AtomicU8; 2], head: AtomicU8 } impl Stack { fn f(&self, i: usize) { self.next[i].@load(); self.next[i].@load(); } } fn g() { let mut next: Vec<usize> = Vec::new(); next.push(1); }",
        &[0, 16],
        "next[0] next[1]",
    ),
    (
        "atomic",
        "struct Stack { next: Vec<AtomicU8>, head: AtomicU8 } impl Stack { fn new() -> Stack { Stack { next: vec![AtomicU8::new(0), AtomicU8::new(0)] } } fn f(&mut self, i: usize) { let next = &mut self.next; next.push(AtomicU8::new(0)); self.next[i].@load(); self.next[i].@load(); } }",
        &[0, 16],
        "next#1 next#2",
    ),
    // Boxes and paddings.
    (
        "atomic",
        "struct Q { cells: Box<[CachePadded<AtomicUsize>; 2]>, len: AtomicU8 } impl Q { fn f(&self, i: usize) { self.len.@load(); self.cells[i].@load(); self.cells[i].@load(); } }",
        &[999, 0, 128],
        "cells[0] cells[1] len",
    ),
    // Elements that are behind pointers may lie in any order.
    (
        "mutex",
        "struct Q { cells: [Arc<Mutex<u8>>; 2], len: AtomicU8 } impl Q { fn f(&self, i: usize) { self.cells[i].@lock(); self.cells[i].@lock(); } }",
        &[0, 16],
        "cells#1 cells#2",
    ),
    // The length is in the constructor.
    (
        "mutex",
        "struct Q { cells: Vec<Mutex<u8>>, len: u8 } impl Q { fn new() -> Q { Q { cells: (0..2).map(|_| Mutex::new(0)).collect(), len: 2 } } fn f(&self, i: usize) { self.cells[i].@lock(); self.cells[i].@lock(); } }",
        &[16, 0],
        "cells[0] cells[1]",
    ),
    (
        "mutex",
        "struct Q { cells: Box<[Mutex<u8>]>, len: u8 } impl Q { fn new(n: usize) -> Self { Self { cells: (0..n).map(|_| Mutex::new(0)).collect(), len: 2 } } fn f(&self, i: usize) { self.cells[i].@lock(); self.cells[i].@lock(); } }",
        &[0, 16],
        "cells#1 cells#2",
    ),
    // A length that is a parameter of the type.
    (
        "atomic",
        "struct Q<const N: usize> { cells: [AtomicU8; N], len: u8 } impl<const N: usize> Q<N> { fn f(&self, i: usize) { self.cells[i].@load(); self.cells[i].@load(); } }",
        &[0, 16],
        "cells#1 cells#2",
    ),
    // Elements of any type.
    (
        "atomic",
        "struct Q<T> { cells: [T; 2], len: u8 } impl Q<AtomicU8> { fn f(&self, i: usize) { self.cells[i].@load(); self.cells[i].@load(); } }",
        &[0, 16],
        "cells#1 cells#2",
    ),
    // Local arrays.
    (
        "atomic",
        "fn f() { let counts = [AtomicUsize::new(0), AtomicUsize::new(0)]; for i in 0..2 { spawn(|| counts[i].@load()); } counts[i].@load(); }",
        &[0, 16],
        "counts[0] counts[1]",
    ),
    (
        "atomic",
        "fn f() { let counts = Arc::new([const { AtomicUsize::new(0) }; 3]); let c = counts.clone(); c.iter().for_each(|c| { c.@load(); }); counts[x].@load(); counts[y].@load(); }",
        &[0, 32, 16],
        "counts[0] counts[1] counts[2]",
    ),
    (
        "atomic",
        "fn f() { let counts: [AtomicUsize; 2] = std::array::from_fn(|_| AtomicUsize::new(0)); for c in counts.iter().rev() { c.@load(); } counts[i].@load(); }",
        &[16, 0],
        "counts[0] counts[1]",
    ),
    (
        "atomic",
        "fn f() { let counts = [0, 0].map(AtomicUsize::new); counts[i].@load(); counts[j].@load(); }",
        &[0, 16],
        "counts[0] counts[1]",
    ),
    (
        "mutex",
        "fn f() { let forks = vec![Mutex::new(()), Mutex::new(())]; forks[i].@lock(); forks[j].@lock(); }",
        &[0, 16],
        "forks[0] forks[1]",
    ),
    // Values of another macro.
    (
        "mutex",
        "fn f() { let forks = smallvec![Mutex::new(()), Mutex::new(())]; forks[i].@lock(); forks[j].@lock(); }",
        &[0, 16],
        "forks#1 forks#2",
    ),
    // An array that grows, one that is turned round, and one that is replaced.
    (
        "mutex",
        "fn f() { let mut forks = vec![Mutex::new(()), Mutex::new(())]; forks.push(Mutex::new(())); forks[i].@lock(); forks[j].@lock(); }",
        &[0, 16],
        "forks#1 forks#2",
    ),
    (
        "mutex",
        "fn f() { let mut forks = [Mutex::new(()), Mutex::new(())]; forks[i].@lock(); forks.rotate_left(1); forks[j].@lock(); }",
        &[0, 16],
        "forks#1 forks#2",
    ),
    (
        "mutex",
        "struct Q { cells: [Mutex<u8>; 2], len: u8 } impl Q { fn f(&mut self, i: usize) { self.cells[i].@lock(); self.cells[i].@lock(); self.cells = new(); } }",
        &[0, 16],
        "cells#1 cells#2",
    ),
    (
        "mutex",
        "fn f() { let mut forks = [Mutex::new(()), Mutex::new(())]; forks[i].@lock(); std::mem::swap(&mut forks, &mut other); forks[j].@lock(); }",
        &[0, 16],
        "forks#1 forks#2",
    ),
    // One array after the other.
    (
        "mutex",
        "fn f() { for i in 0..2 { let forks = [Mutex::new(()), Mutex::new(())]; forks[i].@lock(); forks[j].@lock(); } }",
        &[0, 16],
        "forks#1 forks#2",
    ),
    // The elements of arrays in arrays.
    (
        "atomic",
        "fn f() { let grid = [[const { AtomicU8::new(0) }; 2]; 2]; grid[0][i].@load(); grid[0][j].@load(); grid[k][1].@load(); }",
        &[0, 16, 48],
        "grid[0]#1 grid[0]#2 grid[_][1]",
    ),
    // A part of an array.
    (
        "atomic",
        "fn f() { let all = [AtomicU8::new(0), AtomicU8::new(0)]; let part = &all[1..]; part[0].@load(); all[i].@load(); }",
        &[16, 0],
        "all[_] all[_][0]",
    ),
    (
        "atomic",
        "fn f() { let all = [AtomicU8::new(0), AtomicU8::new(0)]; let (a, b) = all.split_at(1); b[0].@load(); a[0].@load(); }",
        &[16, 0],
        "a[0] b[0]",
    ),
    // Statics: there is one array.
    (
        "atomic",
        "static SLOTS: [Slot; 2] = [Slot::new(), Slot::new()]; struct Slot { seq: AtomicUsize } fn f() { SLOTS[i].seq.@load(); SLOTS[j].seq.@load(); }",
        &[32, 0],
        "SLOTS[0].seq SLOTS[1].seq",
    ),
    (
        "atomic",
        "static SLOTS: [AtomicU8; 4] = [const { AtomicU8::new(0) }; 4]; fn f() { SLOTS[i].@load(); SLOTS[j].@load(); }",
        &[0, 32],
        "SLOTS#1 SLOTS#2",
    ),
    // The only object of its type.
    (
        "atomic",
        "struct D { flags: [AtomicU64; 2] } impl D { fn lock(&self, me: usize) { self.flags[me].@store(1); self.flags[1 - me].@load(); } } fn test() { let d = Arc::new(D { flags: Default::default() }); }",
        &[16, 0],
        "flags[0] flags[1]",
    ),
    (
        "atomic",
        "struct D { flags: [AtomicU64; 2] } impl D { fn new() -> D { D { flags: Default::default() } } fn lock(&self, me: usize) { self.flags[me].@store(1); self.flags[1 - me].@load(); } } fn test() { let d = Arc::new(D::new()); let e = Other::new(); }",
        &[16, 0],
        "flags[0] flags[1]",
    ),
    // There may be two.
    (
        "atomic",
        "struct D { flags: [AtomicU64; 2] } impl D { fn new() -> D { D { flags: Default::default() } } fn lock(&self, me: usize) { self.flags[me].@store(1); self.flags[1 - me].@load(); } } fn test() { let d = (D::new(), D::new()); }",
        &[16, 0],
        "flags#2 flags#1",
    ),
    (
        "atomic",
        "struct D { flags: [AtomicU64; 2] } impl D { fn new() -> Self { Self { flags: Default::default() } } fn lock(&self, me: usize) { self.flags[me].@store(1); self.flags[1 - me].@load(); } } fn test() { let d = [0, 0].map(|_| D::new()); }",
        &[0, 16],
        "flags#1 flags#2",
    ),
    (
        "atomic",
        "struct D { flags: [AtomicU64; 2] } impl D { pub fn new() -> Self { Self { flags: Default::default() } } fn lock(&self, me: usize) { self.flags[me].@store(1); self.flags[1 - me].@load(); } }",
        &[0, 16],
        "flags#1 flags#2",
    ),
    (
        "atomic",
        "#[derive(Debug, Default)] pub struct D { flags: [AtomicU64; 2] } impl D { fn lock(&self, me: usize) { self.flags[me].@store(1); self.flags[1 - me].@load(); } } fn test() { let d = D { flags: Default::default() }; }",
        &[0, 16],
        "flags#1 flags#2",
    ),
    // The distance of elements is known by another field.
    (
        "atomic",
        "struct N { next: AtomicU8, value: AtomicU8 } struct Q { head: AtomicU8, nodes: [N; 4] } impl Q { fn f(&self, i: usize) { self.nodes[0].next.@load(); self.nodes[1].next.@load(); self.nodes[1].value.@load(); self.nodes[i].value.@load(); } }",
        &[0, 32, 48, 80],
        "nodes[0].next nodes[1].next nodes[1].value nodes[2].value",
    ),
    (
        "atomic",
        "struct N { next: AtomicU8, value: AtomicU8 } struct Q { head: AtomicU8, nodes: [N; 4] } impl Q { fn f(&self, i: usize) { self.nodes[0].next.@load(); self.nodes[1].next.@load(); self.nodes[1].value.@load(); self.nodes[i].value.@load(); } }",
        &[0, 32, 48, 72],
        "nodes[0].next nodes[1].next nodes[1].value nodes[_].value",
    ),
];

#[test]
fn elements_have_their_indices() {
    let mut wrong = Vec::new();
    for (kind, source, offsets, expected) in ELEMENTS {
        let names = names_in(kind, source, offsets);
        if names != *expected {
            wrong.push(format!("{source}\n  {names}\n  instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The declaration of a queue with four items, whose first index is at 500.
const QUEUE: &str =
    "const SIZE: usize = 4; struct Q { top: AtomicUsize, items: [AtomicUsize; SIZE] } impl Q { ";

/// The body of the `impl`; the mark of each event, the offset of its variable, and the value that it reads; and the names
/// in order of the offsets.
type Evaluated = (&'static str, &'static [(usize, usize, u64)], &'static str);

const EVALUATED: &[Evaluated] = &[
    (
        "fn f(&self) { let top = self.top.@load(SeqCst); self.items[top % SIZE].@store(1); }",
        &[(0, 500, 6), (1, 32, 0)],
        "items[2] top",
    ),
    // One index leads to others: nothing is known of `x`.
    (
        "fn f(&self) { let top = self.top.@load(SeqCst); self.items[(top + 1) & 3].@store(1); self.items[x].@load(); }",
        &[(0, 500, 1), (1, 32, 0), (2, 48, 0)],
        "items[2] items[3] top",
    ),
    (
        "fn f(&self) { self.items[self.top.@fetch_add(1, SeqCst) as usize].@store(1); }",
        &[(0, 500, 3), (1, 48, 0)],
        "items[3] top",
    ),
    // The load of this round, not of the one before.
    (
        "fn f(&self) { loop { let top = self.top.@load(SeqCst); let at = (top - 1) % SIZE; self.items[at].@load(); } }",
        &[(0, 500, 1), (1, 0, 0), (0, 500, 3), (1, 32, 0)],
        "items[0] items[2] top",
    ),
    // By a method with a parameter.
    (
        "fn item(&self, at: usize) -> &AtomicUsize { &self.items[at & (self.top.@load(SeqCst) as usize)] } fn f(&self) { let at = self.top.@load(SeqCst); self.item(at + 1).@store(1); }",
        &[(1, 500, 2), (0, 500, 3), (2, 48, 0)],
        "items[3] top",
    ),
    // Values that are not known, or may have changed.
    (
        "fn f(&self, top: usize) { self.items[top].@store(1); self.top.@load(); }",
        &[(1, 500, 1), (0, 16, 0)],
        "items[_] top",
    ),
    (
        "fn f(&self) { let mut top = self.top.@load(SeqCst); top += 1; self.items[top].@store(1); }",
        &[(0, 500, 1), (1, 32, 0)],
        "items[_] top",
    ),
    (
        "fn f(&self) { let top = self.top.@load(SeqCst) as u8; self.items[top as usize].@store(1); }",
        &[(0, 500, 257), (1, 16, 0)],
        "items[_] top",
    ),
    (
        "fn f(&self) { let top = self.top.@load(SeqCst); self.items[(top + 200) % 3].@store(1); }",
        &[(0, 500, 100), (1, 0, 0)],
        "items[_] top",
    ),
    (
        "fn f(&self) { let top = self.top.@load(SeqCst); self.items[top - 1].@store(1); }",
        &[(0, 500, 0), (1, 0, 0)],
        "items[_] top",
    ),
    (
        "fn f(&self) { let top = if a { self.top.@load(SeqCst) } else { 0 }; self.items[top].@store(1); }",
        &[(0, 500, 1), (1, 0, 0)],
        "items[_] top",
    ),
    (
        "fn f(&self) { let top = self.top.@load(SeqCst); later(move || self.items[top].@store(1)); }",
        &[(0, 500, 1), (0, 500, 2), (1, 16, 0)],
        "items[_] top",
    ),
    // Its steps may come between those of another call.
    (
        "async fn f(&self) { let top = self.top.@load(SeqCst); self.items[top].@store(1); }",
        &[(0, 500, 1), (0, 500, 2), (1, 16, 0)],
        "items[_] top",
    ),
    (
        "fn f(&self) { let top = self.top.@load(SeqCst); self.f(); self.items[top].@store(1); }",
        &[(0, 500, 1), (0, 500, 2), (1, 16, 0)],
        "items[_] top",
    ),
];

#[test]
fn indices_are_the_values_of_the_execution() {
    let mut wrong = Vec::new();
    for (body, events, expected) in EVALUATED {
        let names = names_of("atomic", &format!("{QUEUE}{body} }}"), events, true);
        if names != *expected {
            wrong.push(format!("{body}\n  {names}\n  instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Arrays in memory, of which some elements are used, and some have known indices: an index that is found is right.
#[test]
fn indices_are_those_of_the_memory() {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let (mut found, mut none) = (0, 0);
    for _ in 0..20_000 {
        let (length, is_dense) = (1 + draw(5), draw(2) == 0);
        let step = if is_dense { 16 } else { 16 + 8 * draw(4) };
        let begin = draw(3) * 8;
        let mut used: Vec<usize> = (0..length).filter(|_| draw(3) > 0).collect();
        if used.is_empty() {
            continue;
        }
        for at in (1..used.len()).rev() {
            used.swap(at, draw(at + 1));
        }
        let known: Vec<Option<usize>> = used
            .iter()
            .map(|index| (draw(3) == 0).then_some(*index))
            .collect();
        let vars = used
            .iter()
            .map(|index| (index.to_string(), 0x1000 + begin + index * step, 16));
        let layout = Layout::new(vars);
        let places: Vec<_> = used
            .iter()
            .map(|index| layout.place(&index.to_string()).unwrap())
            .collect();
        let by_step = elements::indices(&places, &known, length, (false, false), Some(step));
        assert!(by_step.is_none_or(|indices| indices == used));
        match elements::indices(&places, &known, length, (is_dense, true), None) {
            Some(indices) => {
                found += 1;
                assert_eq!(indices, used);
            }
            None => none += 1,
        }
    }
    assert!(found > 5000 && none > 1000, "{found} {none}");
}
