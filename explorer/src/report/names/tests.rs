//! Variables in sources written by hand, and the names that they get.

use super::*;

/// Returns the name that the source has at each `@`. The mark is in front of the name of a method or of a type.
fn names_in(kind: &str, source: &str) -> Vec<Option<(String, Trust)>> {
    let mut text = String::new();
    let mut marks = Vec::new();
    for (number, line) in source.lines().enumerate() {
        let mut rest = line;
        let mut column = 1;
        while let Some((before, after)) = rest.split_once('@') {
            column += before.chars().count();
            marks.push((number + 1, column));
            text.push_str(before);
            rest = after;
        }
        text.push_str(rest);
        text.push('\n');
    }
    let tokens = Tokens::read(text).unwrap_or_else(|| panic!("brackets: {source}"));
    assert!(!marks.is_empty(), "{source}");
    let name = |(line, column)| {
        let found = found_at(&tokens, tokens.at(line, column)?, kind)?;
        Some((found.name, found.trust))
    };
    marks.into_iter().map(name).collect()
}

/// Kind, source, and the names at its marks; `-` for none.
const VARIABLES: &[(&str, &str, &str)] = &[
    // Local variables.
    (
        "atomic",
        "fn f() { let count = AtomicUsize::new(0); count.@load(SeqCst); }",
        "count",
    ),
    (
        "atomic",
        "fn f() { let count = Arc::new(AtomicUsize::new(0)); count.@load(SeqCst); }",
        "count",
    ),
    (
        "atomic",
        "fn f() { let n: Arc<std::sync::atomic::AtomicU64> = Arc::new(sync::atomic::AtomicU64::new(0)); n.@swap(1, SeqCst); }",
        "n",
    ),
    (
        "mutex",
        "fn f() { let mut m = Mutex::new(0); let g = m.@lock().unwrap(); }",
        "m",
    ),
    (
        "atomic",
        "fn f() { let x = AtomicBool::default(); { let y = 1; } if a { x.@store(true, SeqCst) } }",
        "x",
    ),
    ("atomic", "fn f() { let x = make(); x.@load(SeqCst); }", "x"),
    ("atomic", "fn f() { x.@load(SeqCst); }", "-"),
    // Fields.
    (
        "atomic",
        "impl Q { fn f(&self) { self.tail.@load(SeqCst); } }",
        "tail",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { self.inner.tail.@load(SeqCst); } }",
        "tail",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { self.inner.@load(SeqCst); } }",
        "Q.inner",
    ),
    (
        "atomic",
        "impl<T: Fn() -> u8> Trait<u8> for Q<T> where T: Send { fn f(&self) { self.0.@load(SeqCst); } }",
        "Q.0",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { self.tail.0.@load(SeqCst); } }",
        "tail.0",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { self.pair.0.1.@load(SeqCst); } }",
        "pair.0.1",
    ),
    ("atomic", "trait T { fn f(&self) { self.0.@load(SeqCst); } }", "-"),
    ("atomic", "impl Q { fn f(&self) { self.@load(SeqCst); } }", "-"),
    ("atomic", "fn f(q: &Queue) { q.tail.@load(SeqCst); }", "tail"),
    (
        "atomic",
        "fn f() { let counter = Counter(AtomicUsize::new(0)); counter.0.@load(SeqCst); }",
        "counter.0",
    ),
    (
        "atomic",
        "fn f() { let pair = Arc::new((AtomicUsize::new(0), Mutex::new(0))); pair.0.@load(SeqCst); }",
        "pair.0",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { (*self.head.get()).@load(SeqCst); (&self.head).@load(SeqCst); } }",
        "head head",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { unsafe{ &*self.head.as_ptr() }.next.@load(SeqCst); } }",
        "next",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { unsafe{ (*self.node).next.@store(p, SeqCst); } } }",
        "next",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { self.nodes.as_ref().unwrap().next.@load(SeqCst); } }",
        "next",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { self.head().@load(SeqCst); self.slot(i).seq.@load(SeqCst); } }",
        "head() seq",
    ),
    (
        "atomic",
        "impl Q { fn slot(&self, i: usize) -> &A where A: B { &self.slots[i & 3] } fn f(&self) { self.slot(1).@load(SeqCst); other.slot(1).@load(SeqCst); } }",
        "slots[_] slot()",
    ),
    (
        "atomic",
        "fn f() { global().@load(SeqCst); Global::get().flag.@load(SeqCst); }",
        "global() flag",
    ),
    (
        "atomic",
        "fn f() { AtomicUsize::new(0).@load(SeqCst); Arc::new(Q::default()).tail.@load(SeqCst); }",
        "- -",
    ),
    // Elements.
    (
        "atomic",
        "impl Q { fn f(&self) { self.slots[2].seq.@load(SeqCst); self.slots[i + 1].seq.@load(SeqCst); } }",
        "slots[2].seq slots[_].seq",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { self.inner.slots[i & (N - 1)].@load(SeqCst); } }",
        "slots[_]",
    ),
    (
        "atomic",
        "fn f() { let counts = [AtomicUsize::new(0), AtomicUsize::new(0)]; counts[i].@fetch_add(1, SeqCst); counts[0].@load(SeqCst); }",
        "counts[_] counts[0]",
    ),
    (
        "atomic",
        "fn f() { let grid = vec![vec![]]; grid[0][j].@load(SeqCst); }",
        "grid[0][_]",
    ),
    (
        "atomic",
        "fn f() { let counts = make(); counts.get(3).unwrap().@load(SeqCst); }",
        "counts[3]",
    ),
    (
        "atomic",
        "fn f() { let counts: Vec<AtomicUsize> = make(); for c in &counts { c.@load(SeqCst); } }",
        "counts[_]",
    ),
    (
        "atomic",
        "fn f() { let counts = make(); for (i, c) in counts.iter().enumerate() { c.@load(SeqCst); i.@load(SeqCst); } }",
        "counts[_] i",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { self.slots.iter().map(|slot| slot.@load(SeqCst)).sum() } }",
        "slots[_]",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { self.slots.iter().rev().enumerate().for_each(|(i, s)| { let a = 1; s.seq.@store(i, SeqCst); }) } }",
        "slots[_].seq",
    ),
    (
        "atomic",
        "fn f() { for c in [&a, &b] { c.@load(SeqCst); } for i in 0..3 { c.@load(SeqCst); } }",
        "c -",
    ),
    (
        "atomic",
        "fn f() { a.iter().zip(&b).for_each(|(x, y)| y.@load(SeqCst)) }",
        "y",
    ),
    // Statics.
    (
        "atomic",
        "static COUNT: AtomicUsize = AtomicUsize::new(0); fn f() { COUNT.@load(SeqCst); }",
        "COUNT",
    ),
    (
        "atomic",
        "fn f() { crate::state::LAST_ID.@load(SeqCst); SLOTS[i].@load(SeqCst); }",
        "LAST_ID SLOTS[_]",
    ),
    (
        "atomic",
        "fn f() { LOCAL.with(|count| count.@load(SeqCst)) }",
        "LOCAL",
    ),
    (
        "once",
        "fn f() { INIT.@call_once(|| {}); CONFIG.@get_or_init(|| 1); }",
        "INIT CONFIG",
    ),
    // Clones and references.
    (
        "atomic",
        "fn f() { let count = Arc::new(AtomicUsize::new(0)); let c = count.clone(); spawn(move || c.@load(SeqCst)); }",
        "count",
    ),
    (
        "atomic",
        "fn f() { let count = Arc::new(AtomicUsize::new(0)); let c2 = Arc::clone(&count); let c3 = &c2; spawn(move || { let a = 1; c3.@load(SeqCst) }); }",
        "count",
    ),
    (
        "atomic",
        "fn f() { let n = Arc::new(AtomicUsize::new(0)); let t = { let n = n.clone(); spawn(move || n.@load(SeqCst)) }; }",
        "n",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { let tail = &self.bottom; tail.@load(SeqCst); let s = &self.slots[i]; s.seq.@load(SeqCst); } }",
        "bottom slots[_].seq",
    ),
    (
        "mutex",
        "fn f() { let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(1))); let (a2, b2) = (a.clone(), b.clone()); spawn(move || { b2.@lock(); a2.@lock() }); }",
        "b a",
    ),
    (
        "mutex",
        "fn f() { let pair = make(); let (lock, cvar) = &*pair; lock.@lock(); }",
        "lock",
    ),
    (
        "atomic",
        "fn f() { let [x, y] = [0, 0].map(AtomicUsize::new); let [a, b] = [&x, &y]; a.@load(SeqCst); }",
        "x",
    ),
    (
        "atomic",
        "fn f(&self) { let Shared { head, tail: t } = &*self.shared; head.@load(SeqCst); t.@load(SeqCst); }",
        "head tail",
    ),
    (
        "atomic",
        "fn f() { let q = Queue::new(); let this = &q; this.tail.@load(SeqCst); }",
        "tail",
    ),
    (
        "atomic",
        "impl Q { fn f(&self) { let this = self; this.tail.@load(SeqCst); this.@load(SeqCst); } }",
        "tail -",
    ),
    // Shadows and scopes.
    (
        "atomic",
        "fn f() { let x = AtomicUsize::new(0); let y = AtomicUsize::new(0); { let x = &y; x.@load(SeqCst); } x.@load(SeqCst); }",
        "y x",
    ),
    (
        "atomic",
        "fn f() { let x = &a.left; let x = &x.right; x.@load(SeqCst); }",
        "right",
    ),
    (
        "atomic",
        "fn f() { { let z = AtomicUsize::new(0); } z.@load(SeqCst); }",
        "-",
    ),
    (
        "atomic",
        "fn f() { let z = AtomicUsize::new(0); fn g() { z.@load(SeqCst); } }",
        "-",
    ),
    (
        "atomic",
        "fn f() { let z = AtomicUsize::new(z.@load(SeqCst)); }",
        "-",
    ),
    (
        "atomic",
        "fn f(o: Option<&A>) { if let Some(x) = o { x.@load(SeqCst); } else { x.@load(SeqCst); } }",
        "o -",
    ),
    (
        "atomic",
        "fn f() { match next() { Node::Leaf(a) => 1, Node::Inner { left, right: r } => { r.@load(SeqCst) } Other(left) => left.@load(SeqCst), _ => a.@load(SeqCst) } }",
        "right left -",
    ),
    (
        "atomic",
        "fn f() { while let Some(n) = list.pop() { n.@load(SeqCst); } }",
        "n",
    ),
    (
        "atomic",
        "fn f() { let Some(n) = list.pop() else { return n.@load(SeqCst) }; n.@load(SeqCst); }",
        "- n",
    ),
    (
        "atomic",
        "fn f() { let x = AtomicUsize::new(0); match o { Some(x) if x.@load(SeqCst) => 1, None if x.@load(SeqCst) => 2, Some(y) => 3 } }",
        "x x",
    ),
    (
        "atomic",
        "fn f() { let y = AtomicUsize::new(0); let x = &y; match o { Some(x) if x.@load(SeqCst) => 1, _ if x.@load(SeqCst) => 2 } }",
        "x y",
    ),
    (
        "atomic",
        "fn f() { let y = AtomicUsize::new(0); let x = &y; if let Some(x) = o && x.@load(SeqCst) { x.@load(SeqCst); } else { x.@load(SeqCst) } }",
        "x x y",
    ),
    (
        "atomic",
        "fn f() { unknown! { v } v.flag.@load(SeqCst); v.0.@load(SeqCst); }",
        "flag v.0",
    ),
    ("atomic", "fn f() { let a = b | c | x.@load(SeqCst); }", "-"),
    // Parameters and closures.
    (
        "atomic",
        "fn f<T: Into<Vec<u8>>>(n: usize, counter: &AtomicUsize) -> usize { counter.@load(SeqCst) }",
        "counter",
    ),
    (
        "atomic",
        "fn f() { run(|left: &AtomicUsize, right| { right.@load(SeqCst); left.@load(SeqCst); AtomicUsize.@load(SeqCst) }); left.@load(SeqCst) }",
        "right left - -",
    ),
    ("atomic", "fn f() { let get = |a: &A| a.@load(SeqCst); }", "a"),
    (
        "cell",
        "fn f() { let data = UnsafeCell::new(0); data.@with_mut(|p| unsafe{ *p = 1 }); data.@swap(&other); }",
        "data -",
    ),
    // Chains over lines, turbofish, comments, macros.
    (
        "atomic",
        "impl Q { fn f(&self) {\n self\n  .shared // the (\n  .tail\n  /* ) */ .@fetch_add::<>(1, SeqCst);\n } }",
        "tail",
    ),
    (
        "atomic",
        "fn f() { let x = AtomicUsize::new(0); assert_eq!(x.@load(SeqCst), 1, \"x {}\", y.@load(SeqCst)); }",
        "x -",
    ),
    (
        "atomic",
        "macro_rules! m { ($x:expr) => { $x.@load(SeqCst) } } fn f() { @m!(a); }",
        "- -",
    ),
    (
        "atomic",
        "fn f() { let a = from::<Vec<u8>>(); a.collect::<Vec<_>>()[1].@load(SeqCst); }",
        "collect()[1]",
    ),
    (
        "atomic",
        "fn f() { let r#type = AtomicUsize::new(0); r#type.@load(SeqCst); }",
        "r#type",
    ),
    (
        "atomic",
        "impl Q { async fn f(&self) { self.shared.await.flag.@load(SeqCst); self.open()?.flag.@load(SeqCst); } }",
        "flag flag",
    ),
    // Generic types and functions.
    (
        "atomic",
        "impl<T, const N: usize> Ring<T, N> where T: Send { fn f(&self) { self.head.@load(SeqCst); self.cells[N - 1].turn.@load(SeqCst); } }",
        "head cells[_].turn",
    ),
    (
        "atomic",
        "fn f<A: Deref<Target = AtomicUsize>>(gate: A) { gate.@load(SeqCst); }",
        "gate",
    ),
    (
        "atomic",
        "impl<'a, T: ?Sized + Lock<T>> Drop for Guard<'a, T> { fn drop(&mut self) { self.owner.waiters.@fetch_sub(1, SeqCst); } }",
        "waiters",
    ),
    (
        "rwlock",
        "impl<K: Hash + Eq, V> Map<K, V> { fn get<Q>(&self, key: &Q) -> Option<V> where K: Borrow<Q> { self.shards[self.at(key)].table.@read().unwrap(); self.fallback.@write(); } }",
        "shards[_].table fallback",
    ),
    (
        "mutex",
        "fn f(jobs: &Jobs<impl Fn() -> u8>) { jobs.pending.@lock().unwrap().push(1); }",
        "pending",
    ),
    // Macros.
    (
        "atomic",
        "fn f() { let visits = AtomicUsize::new(0); println!(\"{} {}\", visits.@load(SeqCst), 1); vec![visits.@load(SeqCst); 2]; }",
        "visits visits",
    ),
    (
        "atomic",
        "fn f() { let epoch = AtomicUsize::new(0); assert!(matches!(epoch.@load(SeqCst), 0 | 1)); debug_assert_eq!(epoch.@load(SeqCst), 1); }",
        "epoch epoch",
    ),
    (
        "atomic",
        "thread_local! { static CALLS: AtomicUsize = AtomicUsize::new(0); } fn f() { CALLS.with(|c| c.@load(SeqCst)); }",
        "CALLS",
    ),
    (
        "mutex",
        "fn f() { let journal = Mutex::new(vec![]); write!(journal.@lock().unwrap(), \"{}\", 1).unwrap(); }",
        "journal",
    ),
    // Closures in closures, and shadows of outer names.
    (
        "atomic",
        "fn f() { let permits = Arc::new(AtomicUsize::new(0)); let take = { let permits = Arc::clone(&permits); move || permits.@fetch_sub(1, SeqCst) }; run(|| (0..2).for_each(|_| { let p = &permits; later(move || p.@load(SeqCst)) })); }",
        "permits permits",
    ),
    (
        "mutex",
        "fn f() { let ledger = Arc::new(Mutex::new(0)); let audit = |ledger: &Ledger| ledger.entries.@lock(); audit(&x); ledger.@lock(); }",
        "entries ledger",
    ),
    (
        "atomic",
        "fn f(&self) { match &self.state { State::Open { readers, .. } => readers.@load(SeqCst), State::Shut(by) => by.@load(SeqCst) } }",
        "readers by",
    ),
    (
        "condvar",
        "fn f() { let pair = Arc::new((Mutex::new(0), Condvar::new())); let pair2 = pair.clone(); spawn(move || { let (count, ready) = &*pair2; ready.@notify_one(); }); }",
        "ready",
    ),
    // Functions of types.
    (
        "count",
        "fn f() { let a = @Arc::new(1); let b = @Arc::clone(&a); let c = b.@clone(); S { field: @Arc::new(2) }; g(@Arc::new(3)); }",
        "a a a field -",
    ),
    (
        "count",
        "impl Drop for Q { fn drop(&mut self) { drop(self.shared.@clone()); @Arc::strong_count(&self.shared); } }",
        "shared shared",
    ),
    (
        "atomic",
        "fn f() { let a = AtomicUsize::new(0); @AtomicUsize::load(&a, SeqCst); @Atomic::<u8>::load(&a, SeqCst); }",
        "a a",
    ),
    // Channels.
    (
        "channel",
        "fn f() { let (tx, rx) = mpsc::channel::<u8>(); let tx2 = tx.clone(); spawn(move || tx2.@send(1)); rx.@recv(); }",
        "tx/rx tx/rx",
    ),
    ("channel", "fn f(out: &Sender<u8>) { out.@send(1); }", "out"),
    // Places that cannot be the operation: the source has changed.
    (
        "atomic",
        "fn f() { let x = AtomicUsize::new(0); x.@lock(); @x.load(SeqCst); x.load(@SeqCst); x.@load; }",
        "- - - -",
    ),
    (
        "mutex",
        "fn f() { let m = Mutex::new(0); m.@load(SeqCst); c.@wait(m.lock()); }",
        "- -",
    ),
    ("task", "fn f() { t.@join(); }", "-"),
];

#[test]
fn variables_have_the_names_of_their_author() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (kind, source, expected) in VARIABLES {
        let names = names_in(kind, source);
        let distinct: HashSet<&String> = names.iter().flatten().map(|(name, _)| name).collect();
        count += distinct.len();
        let names = names
            .into_iter()
            .map(|name| name.map_or("-".into(), |(name, _)| name));
        let names = names.collect::<Vec<_>>().join(" ");
        if names != *expected {
            wrong.push(format!("{source}\n  {names}\n  instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 100, "{count} variables");
}

#[test]
fn the_most_trusted_name_counts_then_the_most_frequent() {
    let chosen = |names: &[(&str, Trust)]| {
        most_trusted(
            names
                .iter()
                .map(|(name, trust)| ((*name).to_owned(), *trust))
                .collect(),
        )
    };
    for (names, expected) in [
        (&[][..], None),
        (
            &[("c", Trust::Alias), ("c", Trust::Alias), ("count", Trust::Made)],
            Some("count"),
        ),
        (
            &[("a", Trust::Field), ("b", Trust::Field), ("b", Trust::Field)],
            Some("b"),
        ),
        (&[("b", Trust::Field), ("a", Trust::Field)], Some("b")),
        (&[("x", Trust::Made), ("X", Trust::Static)], Some("X")),
    ] {
        assert_eq!(chosen(names).as_deref(), expected, "{names:?}");
    }
}

#[test]
fn equal_names_are_told_apart() {
    let told = |vars: &[(&str, &str)]| {
        let names = distinct(
            vars.iter()
                .map(|(var, name)| (*var, (*name).to_owned()))
                .collect(),
        );
        let names: Vec<String> = vars.iter().map(|(var, _)| names[*var].clone()).collect();
        names.join(", ")
    };
    for (vars, expected) in [
        (&[("atomic 0.1", "a"), ("atomic 0.2", "b")][..], "a, b"),
        (
            &[("atomic 2.1", "tail"), ("atomic 0.2", "tail")],
            "tail#1, tail#2",
        ),
        (&[("mutex 0.1", "m"), ("count 0.2", "m")], "m, m (count)"),
        (
            &[("mutex 0.1", "m"), ("condvar 0.2", "m")],
            "m (mutex), m (condvar)",
        ),
        (
            &[("count 0.1", "n"), ("mutex 0.1", "n"), ("mutex 0.2", "n")],
            "n (count), n#1, n#2",
        ),
    ] {
        assert_eq!(told(vars), expected);
    }
}

#[test]
fn numbers_are_left_out_where_several_variables_have_a_line() {
    for (name, expected) in [
        ("tail", "tail"),
        ("tail#12", "tail"),
        ("slots[2].seq", "slots[_].seq"),
        ("slots#1", "slots"),
        ("slots#1.seq", "slots.seq"),
        ("grid[0][_]", "grid[_][_]"),
        ("Node#2.next", "Node.next"),
        ("Node#2.next#3", "Node.next"),
        ("the #1 lock", "the #1 lock"),
        ("a#", "a#"),
        ("r#type", "r#type"),
    ] {
        assert_eq!(without_number(name), expected);
    }
}

#[test]
fn identities_in_prose_are_replaced() {
    let names: VarNames = [
        ("mutex 0.1", "m"),
        ("atomic 1^9.2.1", "tail"),
        ("count 0.3", "node"),
    ]
    .into_iter()
    .map(|(var, name)| (var.to_owned(), name.to_owned()))
    .collect();
    for (text, expected) in [
        (
            "main holds mutex 0.1, not mutex 0.12 or mutex 1.1.",
            "main holds `m`, not mutex 0.12 or mutex 1.1.",
        ),
        ("load of atomic 1^9.2.1.", "load of `tail`."),
        ("arc 0.3: count 0.3", "`node`: `node`"),
        (
            "xmutex 0.1 mutex 0.1.1 (mutex 0.1)",
            "xmutex 0.1 mutex 0.1.1 (`m`)",
        ),
        ("task 0.1 is at 0.1", "task 0.1 is at 0.1"),
        (
            "é🦀mutex 0.1 🦀 0.1 m🦀 0.1 ümutex 0.1",
            "é🦀`m` 🦀 0.1 m🦀 0.1 ü`m`",
        ),
    ] {
        assert_eq!(in_text(text, &names), expected);
    }
}
