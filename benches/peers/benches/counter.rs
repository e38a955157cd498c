//! `counter(3,2)` exhausted by each tool: the figure to watch from change to change.

use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use intermezzo_peers::{Case, Kernel, Outcomes, Tool};

/// No tool takes nearly as long. If one does, its figure is this, and wrong.
const NEVER: Duration = Duration::from_secs(600);

fn counter(criterion: &mut Criterion) {
    let case = Case::new(Kernel::Counter, 3, 2);
    let mut group = criterion.benchmark_group(case.to_string());
    // One exhaustion is itself thousands of executions: few samples suffice, all of one length.
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    for tool in Tool::ALL {
        let outcomes = Arc::new(Outcomes::new());
        group.bench_function(tool.to_string(), |bencher| {
            bencher.iter(|| tool.explore(case, NEVER, &outcomes));
        });
    }
    group.finish();
}

criterion_group!(benches, counter);
criterion_main!(benches);
