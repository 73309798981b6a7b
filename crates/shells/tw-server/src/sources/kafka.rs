//! A topic of Kafka, by librdkafka.
//!
//! A partition numbers its messages; the mark says, of each partition, which number comes next, and we are assigned the partitions
//! from there on: no group decides what we read. What the group of our name is told is for tools that show how far we are.

use super::wire::{LOOK, PATIENCE};
use super::{BATCH, Batch, Client, SourceConfig};
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often it is looked whether the topic has more partitions.
const PARTITIONS: Duration = Duration::from_secs(30);

/// Reads a topic.
pub struct Reader {
    config: SourceConfig,
    consumer: Option<BaseConsumer>,
    /// The next number of each partition.
    next: BTreeMap<i32, i64>,
    looked: Instant,
}

impl Reader {
    pub(super) fn new(config: &SourceConfig) -> Self {
        Self { config: config.clone(), consumer: None, next: BTreeMap::new(), looked: Instant::now() }
    }
}

/// `0:17 1:4`, the next number of each partition.
fn position(next: &BTreeMap<i32, i64>) -> String {
    let parts = next.iter().map(|(partition, offset)| format!("{partition}:{offset}"));
    parts.collect::<Vec<_>>().join(" ")
}

fn read(position: &str) -> Option<BTreeMap<i32, i64>> {
    let part = |part: &str| {
        let (partition, offset) = part.split_once(':')?;
        Some((partition.parse().ok()?, offset.parse().ok()?))
    };
    position.split(' ').map(part).collect()
}

/// The partitions of a topic.
fn partitions(consumer: &BaseConsumer, topic: &str) -> Result<Vec<i32>, String> {
    let metadata = consumer.fetch_metadata(Some(topic), PATIENCE).map_err(|error| error.to_string())?;
    let found = metadata.topics().iter().find(|own| own.name() == topic);
    let all: Vec<i32> = found.iter().flat_map(|own| own.partitions()).map(|own| own.id()).collect();
    if all.is_empty() { Err(format!("there is no topic {topic}")) } else { Ok(all) }
}

impl Client for Reader {
    fn connect(&mut self, after: Option<&str>, told: &dyn Fn(String)) -> Result<(), String> {
        self.consumer = None;
        let topic = &self.config.from;
        let mut settings = ClientConfig::new();
        settings.set("bootstrap.servers", &self.config.address.host);
        settings.set("group.id", format!("tracewise-{}", self.config.name));
        settings.set("enable.auto.commit", "false").set("auto.offset.reset", "error");
        let consumer: BaseConsumer = settings.create().map_err(|error| error.to_string())?;
        let mut next = match after {
            None => BTreeMap::new(),
            Some(after) => read(after).ok_or_else(|| format!("the position {after} is none of Kafka"))?,
        };
        let mut assigned = TopicPartitionList::new();
        for partition in partitions(&consumer, topic)? {
            let ends = consumer.fetch_watermarks(topic, partition, PATIENCE);
            let (low, high) = ends.map_err(|error| error.to_string())?;
            let known = next.get(&partition).copied();
            if let Some(offset) = known.filter(|offset| *offset > high) {
                return Err(format!(
                    "partition {partition} of {topic} ends at {high}, before {offset}, up to which it was read: was the \
                     topic made anew? Give the source another `name` to read it from its beginning"
                ));
            }
            if let Some(offset) = known.filter(|offset| *offset < low) {
                told(format!(
                    "partition {partition} of {topic}: messages {offset} to {} were deleted before they were read",
                    low - 1
                ));
            }
            let offset = known.unwrap_or(low).max(low);
            next.insert(partition, offset);
            let added = assigned.add_partition_offset(topic, partition, Offset::Offset(offset));
            added.map_err(|error| error.to_string())?;
        }
        consumer.assign(&assigned).map_err(|error| error.to_string())?;
        (self.next, self.looked, self.consumer) = (next, Instant::now(), Some(consumer));
        Ok(())
    }

    fn next(&mut self) -> Result<Batch, String> {
        let mut batch = Batch::default();
        let Some(consumer) = &self.consumer else { return Ok(batch) };
        let mut patience = LOOK;
        while batch.lines.len() < BATCH {
            match consumer.poll(patience) {
                None => break,
                Some(Ok(message)) => {
                    match message.payload() {
                        Some(payload) => batch.add(payload),
                        None => batch.leave_out(format!("message {} has no value", message.offset())),
                    }
                    self.next.insert(message.partition(), message.offset() + 1);
                }
                Some(Err(KafkaError::PartitionEOF(_))) => {}
                // The library connects again by itself; when there is nobody left, it is said.
                Some(Err(KafkaError::MessageConsumption(RDKafkaErrorCode::BrokerTransportFailure))) => {}
                Some(Err(error)) => return Err(error.to_string()),
            }
            patience = Duration::ZERO;
        }
        if batch.messages == 0 && self.looked.elapsed() > PARTITIONS {
            self.looked = Instant::now();
            if partitions(consumer, &self.config.from)?.len() != self.next.len() {
                return Err(format!("topic {} has other partitions than before", self.config.from));
            }
        }
        batch.position = (batch.messages > 0).then(|| position(&self.next));
        Ok(batch)
    }

    fn kept(&mut self) -> Result<(), String> {
        let Some(consumer) = &self.consumer else { return Ok(()) };
        let mut read = TopicPartitionList::new();
        for (partition, offset) in &self.next {
            let added = read.add_partition_offset(&self.config.from, *partition, Offset::Offset(*offset));
            added.map_err(|error| error.to_string())?;
        }
        // Nothing stands on it.
        let _ = consumer.commit(&read, CommitMode::Async);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{position, read};

    #[test]
    fn positions_are_read_back() {
        let next = [(0, 17), (3, 4)].into_iter().collect();
        assert_eq!(position(&next), "0:17 3:4");
        assert_eq!(read("0:17 3:4"), Some(next));
        assert_eq!(read("17"), None);
    }
}
