//! The operations on reference counts. This file is compiled twice: for the look-alikes and for std.

use super::state::{NOTHING, Op};
use super::sync::Arc;
use super::tables::op;

pub(crate) const ARC: &[Op] = &[
    op("clone", |_, own| {
        let Some(arc) = own.handles.arc.clone() else {
            return NOTHING;
        };
        own.arcs.push(arc);
        0
    }),
    op("drop", |_, own| own.handles.arc.take().map_or(NOTHING, |_| 0)),
    op("strong_count", |_, own| {
        own.handles
            .arc
            .as_ref()
            .map_or(NOTHING, |arc| Arc::strong_count(arc) as u8)
    }),
    op("weak_count", |_, own| {
        own.handles
            .arc
            .as_ref()
            .map_or(NOTHING, |arc| Arc::weak_count(arc) as u8)
    }),
    op("get_mut", |_, own| {
        let Some(arc) = &mut own.handles.arc else {
            return NOTHING;
        };
        Arc::get_mut(arc).map_or(0, |value| {
            *value += 1;
            *value
        })
    }),
    op("make_mut", |_, own| {
        let Some(arc) = &mut own.handles.arc else {
            return NOTHING;
        };
        *Arc::make_mut(arc) += 1;
        **arc
    }),
    op("try_unwrap", |_, own| {
        let Some(arc) = own.handles.arc.take() else {
            return NOTHING;
        };
        match Arc::try_unwrap(arc) {
            Ok(value) => value,
            Err(arc) => {
                own.handles.arc = Some(arc);
                50
            }
        }
    }),
    op("into_inner", |_, own| {
        let Some(arc) = own.handles.arc.take() else {
            return NOTHING;
        };
        Arc::into_inner(arc).unwrap_or(50)
    }),
    op("unwrap_or_clone", |_, own| {
        own.handles.arc.take().map_or(NOTHING, Arc::unwrap_or_clone)
    }),
    op("downgrade", |_, own| {
        let Some(arc) = &own.handles.arc else {
            return NOTHING;
        };
        own.handles.weak = Some(Arc::downgrade(arc));
        0
    }),
    op("upgrade", |_, own| {
        let Some(weak) = &own.handles.weak else {
            return NOTHING;
        };
        let arc = weak.upgrade();
        let value = arc.as_deref().map_or(50, |value| *value);
        own.arcs.extend(arc);
        value
    }),
    op("upgrade and drop", |_, own| {
        let Some(weak) = &own.handles.weak else {
            return NOTHING;
        };
        weak.upgrade().map_or(50, |value| *value)
    }),
    op("strong_count of weak", |_, own| {
        own.handles
            .weak
            .as_ref()
            .map_or(NOTHING, |weak| weak.strong_count() as u8)
    }),
    op("weak_count of weak", |_, own| {
        own.handles
            .weak
            .as_ref()
            .map_or(NOTHING, |weak| weak.weak_count() as u8)
    }),
    op("drop weak", |_, own| {
        own.handles.weak.take().map_or(NOTHING, |_| 0)
    }),
    op("clone weak", |_, own| {
        let Some(weak) = own.handles.weak.clone() else {
            return NOTHING;
        };
        weak.strong_count() as u8
    }),
    op("increment and decrement", |_, own| {
        let Some(arc) = own.handles.arc.take() else {
            return NOTHING;
        };
        let pointer = Arc::into_raw(arc);
        // SAFETY: the pointer counts for a handle, and for another one in between.
        unsafe {
            Arc::increment_strong_count(pointer);
            Arc::decrement_strong_count(pointer);
            own.handles.arc = Some(Arc::from_raw(pointer));
        }
        0
    }),
];

pub(crate) const NOISY_ARC: &[Op] = &[
    op("clone", |shared, own| {
        let Some(arc) = own.handles.noisy.clone() else {
            return NOTHING;
        };
        own.noisies.push(arc);
        shared.dropped()
    }),
    op("drop", |shared, own| {
        let Some(arc) = own.handles.noisy.take() else {
            return NOTHING;
        };
        drop(arc);
        shared.dropped()
    }),
    op("clone and drop", |shared, own| {
        let Some(arc) = own.handles.noisy.clone() else {
            return NOTHING;
        };
        drop(arc);
        shared.dropped()
    }),
    op("strong_count", |_, own| {
        own.handles
            .noisy
            .as_ref()
            .map_or(NOTHING, |arc| Arc::strong_count(arc) as u8)
    }),
    op("get_mut", |_, own| {
        let Some(arc) = &mut own.handles.noisy else {
            return NOTHING;
        };
        u8::from(Arc::get_mut(arc).is_some())
    }),
    op("make_mut", |shared, own| {
        let Some(arc) = &mut own.handles.noisy else {
            return NOTHING;
        };
        Arc::make_mut(arc);
        shared.dropped()
    }),
    op("try_unwrap", |shared, own| {
        let Some(arc) = own.handles.noisy.take() else {
            return NOTHING;
        };
        match Arc::try_unwrap(arc) {
            Ok(value) => {
                drop(value);
                shared.dropped()
            }
            Err(arc) => {
                own.handles.noisy = Some(arc);
                50
            }
        }
    }),
    op("into_inner", |shared, own| {
        let Some(arc) = own.handles.noisy.take() else {
            return NOTHING;
        };
        let inner = Arc::into_inner(arc);
        let is_last = u8::from(inner.is_some());
        drop(inner);
        shared.dropped() + 10 * is_last
    }),
    op("unwrap_or_clone", |shared, own| {
        let Some(arc) = own.handles.noisy.take() else {
            return NOTHING;
        };
        drop(Arc::unwrap_or_clone(arc));
        shared.dropped()
    }),
    op("upgrade", |_, own| {
        let Some(weak) = &own.handles.weak_noisy else {
            return NOTHING;
        };
        let arc = weak.upgrade();
        let found = u8::from(arc.is_some());
        own.noisies.extend(arc);
        found
    }),
    op("upgrade and drop", |shared, own| {
        let Some(weak) = &own.handles.weak_noisy else {
            return NOTHING;
        };
        let found = u8::from(weak.upgrade().is_some());
        found + 10 * shared.dropped()
    }),
    op("strong_count of weak", |_, own| {
        own.handles
            .weak_noisy
            .as_ref()
            .map_or(NOTHING, |weak| weak.strong_count() as u8)
    }),
    op("weak_count of weak", |_, own| {
        own.handles
            .weak_noisy
            .as_ref()
            .map_or(NOTHING, |weak| weak.weak_count() as u8)
    }),
    op("drop weak", |shared, own| {
        own.handles
            .weak_noisy
            .take()
            .map_or(NOTHING, |_| shared.dropped())
    }),
];
