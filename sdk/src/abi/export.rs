//! The export of a monitor in Rust as a plugin.

use super::call::give_text;
use super::data::Text;
use super::instance::Instance;
use super::panics;
use super::table::{ARGUMENTS_BYTES_MAX, FAILED, HostTable, MonitorTable, OK, VERSION};
use crate::Monitor;
use std::ffi::c_char;

/// Exports a monitor: makes the crate, if it is a `cdylib`, a plugin.
///
/// Takes a function `fn(&str) -> Result<impl Monitor, String>`. It receives the user's arguments (`""` if there are
/// none) and returns the monitor, or a description of what is wrong with the arguments. It may be called several times,
/// so it must have no effects that matter if they are repeated. A monitor that writes files should create them in the
/// first execution.
///
/// A panic, in the function or in a callback, does not cross the boundary between plugin and engine. A panic in a
/// callback becomes a finding about the monitor, which is not called any more. (With `panic = "abort"` it ends the
/// process instead.)
///
/// ```
/// use intermezzo_sdk::{Interests, Monitor};
///
/// struct Silent;
///
/// impl Monitor for Silent {
///     fn name(&self) -> &str {
///         "silent"
///     }
///     fn interests(&self) -> Interests {
///         Interests::NONE
///     }
///     fn reduction_compatible(&self) -> bool {
///         true
///     }
/// }
///
/// intermezzo_sdk::export_monitor!(|arguments| match arguments {
///     "" => Ok(Silent),
///     _ => Err(format!("`{arguments}`: this monitor takes no arguments")),
/// });
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_monitor {
    ($constructor:expr $(,)?) => {
        /// Creates a monitor for an engine: see `intermezzo_sdk::abi::Entry`.
        ///
        /// # Safety
        /// Only an engine that keeps the contract may call it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn intermezzo_monitor_7(
            host: *const $crate::abi::HostTable,
            arguments: $crate::abi::Text,
            monitor: *mut $crate::abi::MonitorTable,
            message: *mut ::core::ffi::c_char,
            capacity: usize,
        ) -> u32 {
            let version = env!("CARGO_PKG_VERSION");
            // SAFETY: the arguments are the engine's.
            unsafe {
                $crate::abi::enter(
                    host,
                    arguments,
                    monitor,
                    message,
                    capacity,
                    version,
                    $constructor,
                )
            }
        }
    };
}

/// Implements [`export_monitor!`](crate::export_monitor): an [`Entry`](super::Entry) for this constructor and this
/// version of the plugin.
///
/// # Safety
/// The caller must be an engine that keeps the contract.
pub unsafe fn enter<M: Monitor>(
    host: *const HostTable,
    arguments: Text,
    monitor: *mut MonitorTable,
    message: *mut c_char,
    capacity: usize,
    plugin_version: &'static str,
    constructor: impl FnOnce(&str) -> Result<M, String>,
) -> u32 {
    // SAFETY: the pointers are the engine's.
    let made = unsafe {
        understood(host).and_then(|host| {
            let arguments = arguments
                .read(ARGUMENTS_BYTES_MAX)
                .map_err(|problem| format!("the arguments are {problem}"))?
                .unwrap_or_default();
            let made = panics::caught(|| {
                constructor(arguments).map(|monitor| Instance::table(monitor, host, plugin_version))
            });
            made.unwrap_or_else(|panic| Err(format!("its constructor panicked: {panic}")))
        })
    };
    // SAFETY: an engine of this version has room for its table, and any engine for a message.
    unsafe {
        match made {
            Ok(table) => {
                monitor.write(table);
                OK
            }
            Err(problem) => {
                give_text(&problem, message, capacity);
                FAILED
            }
        }
    }
}

/// Returns the engine's table, if it is of this version.
///
/// # Safety
/// It must be the table of an engine, of any version.
unsafe fn understood(host: *const HostTable) -> Result<HostTable, String> {
    // SAFETY: every version's table begins with these two numbers.
    let [size, version] = unsafe { *host.cast::<[u32; 2]>() };
    if version != VERSION || size as usize != size_of::<HostTable>() {
        return Err(format!(
            "the engine speaks version {version} of the contract (a table of {size} bytes), the plugin version {VERSION} \
             ({} bytes): build both from one version of intermezzo",
            size_of::<HostTable>()
        ));
    }
    // SAFETY: it is of this version.
    Ok(unsafe { *host })
}
