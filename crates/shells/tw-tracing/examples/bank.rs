//! A bank with a bug that tests seldom meet: a teller checks the balance under the lock, lets go of it to count the notes,
//! and takes it again to pay out. Meanwhile another teller may have paid out the same money.
//!
//! The layer catches it while the program runs. The program also writes its trace, from which `tracewise races` learns
//! of two more mistakes that did no harm this time.
//!
//! ```sh
//! cargo run -p tw-tracing --example bank -- bank.jsonl
//! tracewise races bank.jsonl
//! ```

use std::fs::File;
use std::io::BufWriter;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tracewise::Specification;
use tracing::info;
use tracing_subscriber::prelude::*;
use tw_tracing::Outcome;

/// A lock that says who has it: `lock` once it is got, `unlock` before it is given back.
struct Logged<T> {
    name: &'static str,
    inner: Mutex<T>,
}

struct Held<'a, T> {
    name: &'static str,
    inner: MutexGuard<'a, T>,
}

impl<T> Logged<T> {
    const fn new(name: &'static str, value: T) -> Self {
        Self { name, inner: Mutex::new(value) }
    }

    fn lock(&self) -> Held<'_, T> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        info!(lock = self.name, "lock");
        Held { name: self.name, inner }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        info!(lock = self.name, "unlock");
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

struct Bank {
    /// What is in the account.
    balance: Logged<i64>,
    /// What was paid out, for the books.
    ledger: Logged<Vec<i64>>,
    /// How often. "A counter needs no lock."
    payments: AtomicI64,
    /// Both tellers have checked: makes the rare schedule the only one.
    checked: Barrier,
}

impl Bank {
    fn withdraw(&self, amount: i64) {
        let covered = {
            let balance = self.balance.lock();
            info!(amount, balance = *balance, "check");
            *balance >= amount
        }; // The lock is given back here, and the answer is worth nothing from now on.
        self.checked.wait();
        if covered {
            let mut balance = self.balance.lock();
            *balance -= amount;
            info!(amount, balance = *balance, "withdraw");
            self.ledger.lock().push(amount);
        }
        // Lost if another teller counts at the same time.
        info!(variable = "payments", "read");
        let payments = self.payments.load(Ordering::Relaxed);
        info!(variable = "payments", "write");
        self.payments.store(payments + 1, Ordering::Relaxed);
    }

    /// Takes the two locks the other way round.
    fn audit(&self) {
        let ledger = self.ledger.lock();
        let balance = self.balance.lock();
        info!(paid = ledger.iter().sum::<i64>(), balance = *balance, "audit");
    }
}

fn run() -> std::io::Result<()> {
    let bank = Arc::new(Bank {
        balance: Logged::new("account", 100),
        ledger: Logged::new("ledger", Vec::new()),
        payments: AtomicI64::new(0),
        checked: Barrier::new(2),
    });
    let start = |name: &'static str, work: fn(&Bank)| {
        info!(child = name, "fork");
        let bank = Arc::clone(&bank);
        let thread = thread::Builder::new().name(name.into()).spawn(move || work(&bank));
        thread.map(|thread| (name, thread))
    };
    let ana = start("ana", |bank| bank.withdraw(80))?;
    let bob = start("bob", |bank| bank.withdraw(80))?;
    // Long after the tellers, this time.
    thread::sleep(Duration::from_millis(100));
    let carl = start("carl", Bank::audit)?;
    for (name, thread) in [ana, bob, carl] {
        thread.join().expect("nobody panics");
        info!(child = name, "join");
    }
    Ok(())
}

/// Runs the bank under observation, with its events also written to a file or sent to `tcp:HOST:PORT`; how the
/// properties came out.
pub fn observe(to: Option<&str>) -> Result<Vec<Outcome>, Box<dyn std::error::Error>> {
    let spec = Specification::from_text("bank.tw", include_str!("bank.tw"))?;
    let mut builder = tw_tracing::builder().check(&spec)?.on_violation(|violation| println!("{violation}\n"));
    if let Some(to) = to {
        builder = match to.strip_prefix("tcp:") {
            Some(address) => builder.send_tcp(address)?,
            None => builder.write_to(BufWriter::new(File::create(to)?)),
        };
    }
    let (layer, guard) = builder.build();
    tracing_subscriber::registry().with(layer).init();
    run()?;
    Ok(guard.finish()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for outcome in observe(std::env::args().nth(1).as_deref())? {
        println!("{}: {}", outcome.property, if outcome.holds { "holds" } else { "violated" });
    }
    Ok(())
}
