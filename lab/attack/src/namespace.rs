//! Own namespaces: a network with loopback only, and mounts that no other process sees.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// The variable that is set in the process inside the namespaces.
const INSIDE: &str = "ATTACK_INSIDE";

/// The isolation of this process from the rest of the machine.
pub(crate) struct Isolation {
    pub(crate) may_mount: bool,
    pub(crate) description: String,
}

/// Restarts this program in namespaces and does not return, or reports that it continues without
/// them.
pub(crate) fn enter(crawler: &Path) -> Result<Isolation, Failure> {
    if std::env::var_os(INSIDE).is_some() {
        let up = Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status();
        if !up.is_ok_and(|status| status.success()) {
            return Err(
                "cannot bring up the loopback device of the namespace (`ip link set lo up`)".into(),
            );
        }
        return Ok(Isolation {
            may_mount: true,
            description: "in a network namespace of its own".to_owned(),
        });
    }
    let allowed = Command::new("unshare")
        .args([
            "-rnm",
            "sh",
            "-c",
            "ip link set lo up && mount -t tmpfs tmpfs /mnt",
        ])
        .stderr(Stdio::null())
        .status();
    if allowed.is_ok_and(|status| status.success()) {
        let ours = std::env::current_exe()?;
        let failure = Command::new("unshare")
            .arg("-rnm")
            .arg(ours)
            .args(std::env::args_os().skip(1))
            .arg("--crawler")
            .arg(crawler)
            .env(INSIDE, "1")
            .exec();
        return Err(failure.into());
    }
    println!(
        "NOT ISOLATED: this machine lets nobody have a network namespace; only loopback is asked"
    );
    Ok(Isolation {
        may_mount: false,
        description: "without a network namespace".to_owned(),
    })
}
