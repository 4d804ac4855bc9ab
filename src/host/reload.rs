//! An engine that looks for changed rules.

use std::time::Duration;

use tokio::{task::spawn_blocking, time::sleep};

use super::{
    engine::Engine,
    rules::{ReloadError, Reloaded},
    trace,
};

/// Pause between two looks at the files. A change is taken at the second look that sees it, so a file
/// that is still being written is not read.
const LOOK: Duration = Duration::from_millis(500);

impl Engine {
    /// Looks for changed rule files until the future is dropped, and takes them if all is well with
    /// them; meant to be spawned. Events are traced, told to the listener, and what is in force is
    /// stored for `status`. Does nothing for an engine without a [`super::Rules`] handle.
    ///
    /// ```
    /// # async fn start(engine: pointsman::host::Engine) {
    /// tokio::spawn(async move { engine.watch().await });
    /// # }
    /// ```
    pub async fn watch(&self) {
        let mut shown = None;
        loop {
            if let Some(rules) = self.handle() {
                let looked = spawn_blocking({
                    let rules = rules.clone();
                    move || rules.look()
                });
                if let Ok(Some(done)) = looked.await {
                    self.tell(&done);
                }
                let now = rules.in_force();
                if shown.as_ref() != Some(&now) {
                    let stored = now.clone();
                    let done = self.keeper.work(move |store| match store.records() {
                        Some(records) => records.put_in_force(&stored).is_ok(),
                        None => true,
                    });
                    if done.await == Some(true) {
                        shown = Some(now);
                    }
                }
            }
            sleep(LOOK).await;
        }
    }

    fn tell(&self, done: &Result<Reloaded, ReloadError>) {
        trace::reloaded(done);
        if let Some(listener) = &self.listener {
            listener.reloaded(done);
        }
    }
}
