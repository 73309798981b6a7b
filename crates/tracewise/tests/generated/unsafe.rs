// Made by `tracewise generate rust` from rules.tw; changes belong there.

/// What an argument may be.
pub trait Argument {
    /// As the monitors take it.
    fn value(self) -> tracewise::Value;
}
impl Argument for i64 {
    fn value(self) -> tracewise::Value {
        tracewise::Value::Int(self)
    }
}
impl Argument for bool {
    fn value(self) -> tracewise::Value {
        tracewise::Value::Bool(self)
    }
}
impl Argument for &str {
    fn value(self) -> tracewise::Value {
        tracewise::Value::text(self)
    }
}
/// A thing, known by where it is. Its life has to end with an event that the specification names by `end`.
impl<T> Argument for *const T {
    fn value(self) -> tracewise::Value {
        tracewise::Value::Int(self as usize as i64)
    }
}

/// The monitors, and a function per event.
pub struct Monitors {
    inner: tracewise::embed::RowMonitor,
}

#[allow(dead_code, non_snake_case)] // a program need not have every event, and events are called as they are
impl Monitors {
    /// The monitors at work.
    pub fn new() -> Result<Self, tracewise::Error> {
        let spec = tracewise::Specification::from_text("rules.tw", "monitor UnsafeIterator(m, c, i) \"an iterator is used after its collection changed\" {\n    creation event getC(m, c);\n    event getI(c, i);\n    event modifyM(m);\n    event modifyC(c);\n    event useI(i);\n    ere : getC (modifyM | modifyC)* getI useI* (modifyM | modifyC)+ useI;\n    on match \"iterator {i} of {c} is stale\";\n}\nmonitor Closed(f) \"every opened file is closed\" warning {\n    event open(f);\n    event close(f);\n    ltl : open -> F close;\n    on violation \"{f} is left open\";\n}\n")?;
        Ok(Self { inner: tracewise::embed::RowMonitor::new(&spec)? })
    }

    /// `getC(m, c)`, which UnsafeIterator is about. Returns what is reported because of it.
    #[inline]
    pub fn get_c(&mut self, m: impl Argument, c: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("getC", &[("m", m.value()), ("c", c.value())])?;
        Ok(self.inner.reports())
    }

    /// `getI(c, i)`, which UnsafeIterator is about. Returns what is reported because of it.
    #[inline]
    pub fn get_i(&mut self, c: impl Argument, i: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("getI", &[("c", c.value()), ("i", i.value())])?;
        Ok(self.inner.reports())
    }

    /// `modifyM(m)`, which UnsafeIterator is about. Returns what is reported because of it.
    #[inline]
    pub fn modify_m(&mut self, m: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("modifyM", &[("m", m.value())])?;
        Ok(self.inner.reports())
    }

    /// `modifyC(c)`, which UnsafeIterator is about. Returns what is reported because of it.
    #[inline]
    pub fn modify_c(&mut self, c: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("modifyC", &[("c", c.value())])?;
        Ok(self.inner.reports())
    }

    /// `useI(i)`, which UnsafeIterator is about. Returns what is reported because of it.
    #[inline]
    pub fn use_i(&mut self, i: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("useI", &[("i", i.value())])?;
        Ok(self.inner.reports())
    }

    /// `open(f)`, which Closed is about. Returns what is reported because of it.
    #[inline]
    pub fn open(&mut self, f: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("open", &[("f", f.value())])?;
        Ok(self.inner.reports())
    }

    /// `close(f)`, which Closed is about. Returns what is reported because of it.
    #[inline]
    pub fn close(&mut self, f: impl Argument) -> Result<&[tracewise::embed::Report], tracewise::Error> {
        self.inner.event("close", &[("f", f.value())])?;
        Ok(self.inner.reports())
    }

    /// What is reported if nothing more happens.
    pub fn finish(&self) -> Vec<tracewise::embed::Report> {
        self.inner.last_reports()
    }

    /// What runs them, for saving, restoring and properties beside.
    pub fn monitor(&mut self) -> &mut tracewise::embed::RowMonitor {
        &mut self.inner
    }
}
