//! The state of an object, for people: read after each step of an execution that is run once more.

use crate::locks::held;
use crate::run::body::Body;
use crate::run::record::{Record, Story};
use intermezzo_explorer::{Explorer, Schedule};
use intermezzo_sdk::{Context, Execution, Interests, Monitor};
use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

/// Shows objects of type `T`.
pub(crate) struct Show<T>(Arc<dyn Fn(&T) -> String + Send + Sync>);

impl<T> Clone for Show<T> {
    fn clone(&self) -> Self {
        Show(Arc::clone(&self.0))
    }
}

impl<T: 'static> Show<T> {
    pub(crate) fn new<S: Debug + 'static>(look: impl Fn(&T) -> S + Send + Sync + 'static) -> Show<T> {
        Show(Arc::new(move |object| in_words(look(object))))
    }

    /// Returns the state of this thread's current object; nothing if there is none.
    fn look(&self) -> String {
        // Taken out of the record first: the function that shows it is the test's own code.
        let object = Record::with(|record| record.object.clone());
        let object = object.and_then(|object| object.upgrade());
        let object = object.as_ref().and_then(|object| object.downcast_ref::<T>());
        object.map_or(String::new(), |object| (self.0)(object))
    }
}

/// Returns a text as it is; anything else by `Debug`.
fn in_words<S: Debug + 'static>(state: S) -> String {
    let any: &dyn Any = &state;
    match (any.downcast_ref::<String>(), any.downcast_ref::<&str>()) {
        (Some(text), _) => text.clone(),
        (_, Some(text)) => (*text).to_owned(),
        _ => format!("{state:?}"),
    }
}

/// Runs the execution of a schedule once more, for its story.
pub(crate) fn tell<T: Sync + 'static>(
    body: &Body<'_, T>,
    show: Option<&Show<T>>,
    schedule: &Schedule,
    run: impl Fn(&Body<'_, T>) + Sync + Send,
) -> Story {
    let kept = Arc::new(Mutex::new(Story::default()));
    let show = show.cloned();
    let look = move || show.as_ref().map_or(String::new(), Show::look);
    Explorer::new()
        .program(schedule.program.clone())
        .set("deadlocks_allowed", true)
        .minimise(0)
        .set("warm_up", "retries=0")
        .replay(schedule.clone())
        .inspect(look, Record::inspected)
        .monitors("none")
        .monitor(Keeper(Arc::clone(&kept)))
        .explore(|| run(body));
    std::mem::take(&mut *held(&kept))
}

/// A monitor that keeps the story of the first execution.
struct Keeper(Arc<Mutex<Story>>);

impl Monitor for Keeper {
    fn name(&self) -> &str {
        "story"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn follows_stale_reads(&self) -> bool {
        true
    }
    fn on_execution_end(&mut self, _: &Execution<'_>, _: &mut Context<'_>) {
        let story = Record::with(|record| record.story.as_deref().cloned());
        let mut kept = held(&self.0);
        if let Some(story) = story.filter(|_| kept.inspections.is_empty()) {
            *kept = story;
        }
    }
}
