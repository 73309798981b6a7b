//! What clients together may take: rates by bucket, memory by budget, connections by address.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Clients that are remembered; of those beyond, the ones that were quiet longest are forgotten.
const CLIENTS: usize = 10_000;

/// Files that this process may have open, where the system says so.
pub fn files() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Buckets that fill at a rate, one for each client: who empties his waits.
#[derive(Debug)]
pub struct Buckets<K> {
    /// What comes in each second, and fits at most.
    rate: f64,
    fits: f64,
    table: Mutex<HashMap<K, (f64, Instant)>>,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    /// So much each second, and at most so much at once.
    pub fn new(rate: f64, fits: f64) -> Self {
        Self { rate, fits, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<K, (f64, Instant)>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn level(&self, (level, at): (f64, Instant), now: Instant) -> f64 {
        (level + now.saturating_duration_since(at).as_secs_f64() * self.rate).min(self.fits)
    }

    /// How long a client has to wait until there is something in its bucket.
    pub fn wait(&self, client: &K) -> Option<Duration> {
        let level = self.level(*self.table().get(client)?, Instant::now());
        (level < 1.0).then(|| Duration::from_secs_f64((1.0 - level) / self.rate))
    }

    /// Takes so much; where that is more than there is, the bucket has to fill longer.
    pub fn take(&self, client: &K, much: f64) {
        let now = Instant::now();
        let mut table = self.table();
        if table.len() >= CLIENTS && !table.contains_key(client) {
            // Full buckets say nothing.
            table.retain(|_, own| self.level(*own, now) < self.fits);
            if table.len() >= CLIENTS {
                // A quarter at once: the next ones find room.
                let mut times: Vec<Instant> = table.values().map(|(_, at)| *at).collect();
                let (_, oldest, _) = times.select_nth_unstable(CLIENTS / 4);
                let oldest = *oldest;
                table.retain(|_, (_, at)| *at > oldest);
            }
        }
        let own = table.entry(client.clone()).or_insert((self.fits, now));
        *own = (self.level(*own, now) - much, now);
    }
}

/// Whose address it is: somebody who has an IPv6 address has 2^64 of them.
pub fn neighbourhood(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(own) => match own.to_ipv4_mapped() {
            Some(own) => IpAddr::V4(own),
            None => IpAddr::V6(Ipv6Addr::from_bits(own.to_bits() >> 64 << 64)),
        },
    }
}

/// Bytes that all together may hold. Copies share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<(AtomicUsize, usize)>);

impl Budget {
    /// Of so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new((AtomicUsize::new(0), bytes)))
    }

    /// Nothing yet.
    pub fn hold(&self) -> Held {
        Held { budget: self.clone(), bytes: 0 }
    }

    /// Bytes that are held now.
    pub fn held(&self) -> usize {
        self.0.0.load(Ordering::Relaxed)
    }
}

/// A part of a budget, given back in the end.
#[derive(Debug)]
pub struct Held {
    budget: Budget,
    bytes: usize,
}

impl Held {
    /// Takes more, if there is so much.
    pub fn grow(&mut self, more: usize) -> bool {
        let (held, most) = &*self.budget.0;
        let grown = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
            held.checked_add(more).filter(|held| held <= most)
        });
        if grown.is_ok() {
            self.bytes += more;
        }
        grown.is_ok()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.0.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Connections of each address, and how many there may be.
#[derive(Debug)]
pub struct Places {
    most: usize,
    table: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection's place, given back in the end.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    address: IpAddr,
}

impl Places {
    /// At most so many of one address.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, table: Mutex::default() })
    }

    /// A place for one more.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let address = neighbourhood(address);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let count = table.entry(address).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Place { places: self.clone(), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.places.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = table.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                table.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Buckets, Budget, CLIENTS, Places, neighbourhood};

    #[test]
    fn who_takes_too_much_waits() {
        let buckets = Buckets::new(1.0, 3.0);
        assert!(buckets.wait(&1).is_none());
        (0..3).for_each(|_| buckets.take(&1, 1.0));
        let wait = buckets.wait(&1).expect("it is empty").as_secs_f64();
        assert!((0.5..=1.0).contains(&wait), "{wait}");
        assert!(buckets.wait(&2).is_none(), "another client");
        buckets.take(&2, 13.0);
        let wait = buckets.wait(&2).expect("a debt").as_secs_f64();
        assert!((10.0..=11.0).contains(&wait), "{wait}");
    }

    #[test]
    fn clients_are_forgotten_before_they_fill_the_memory() {
        let buckets = Buckets::new(0.001, 2.0);
        (0..2 * CLIENTS).for_each(|client| buckets.take(&client, 2.0));
        assert!(buckets.table().len() <= CLIENTS);
        assert!(buckets.wait(&(2 * CLIENTS - 1)).is_some(), "the latest are remembered");
    }

    #[test]
    fn a_budget_is_given_back() {
        let budget = Budget::new(100);
        let (mut one, mut two) = (budget.hold(), budget.hold());
        assert!(one.grow(60) && !two.grow(50) && two.grow(40) && !one.grow(1) && !two.grow(usize::MAX));
        drop(one);
        assert_eq!(budget.held(), 40);
        assert!(two.grow(60));
        drop(two);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn places_are_those_of_an_address() {
        let places = Places::new(2);
        let [one, other] = ["10.0.0.1", "::ffff:10.0.0.1"].map(|text| text.parse().expect("an address"));
        let (first, second) = (places.take(one), places.take(other));
        assert!(first.is_some() && second.is_some() && places.take(one).is_none());
        drop(second);
        assert!(places.take(other).is_some());
        let [a, b, c] =
            ["2001:db8::1", "2001:db8::ff:2", "2001:db8:0:1::1"].map(|text| text.parse().expect("one"));
        assert_eq!(neighbourhood(a), neighbourhood(b));
        assert_ne!(neighbourhood(a), neighbourhood(c));
    }
}
