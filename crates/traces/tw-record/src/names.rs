//! What numbers are called: errors, flags, commands.

/// The errors of Linux, by number.
const ERRORS: &[&str] = &[
    "",
    "EPERM",
    "ENOENT",
    "ESRCH",
    "EINTR",
    "EIO",
    "ENXIO",
    "E2BIG",
    "ENOEXEC",
    "EBADF",
    "ECHILD",
    "EAGAIN",
    "ENOMEM",
    "EACCES",
    "EFAULT",
    "ENOTBLK",
    "EBUSY",
    "EEXIST",
    "EXDEV",
    "ENODEV",
    "ENOTDIR",
    "EISDIR",
    "EINVAL",
    "ENFILE",
    "EMFILE",
    "ENOTTY",
    "ETXTBSY",
    "EFBIG",
    "ENOSPC",
    "ESPIPE",
    "EROFS",
    "EMLINK",
    "EPIPE",
    "EDOM",
    "ERANGE",
    "EDEADLK",
    "ENAMETOOLONG",
    "ENOLCK",
    "ENOSYS",
    "ENOTEMPTY",
    "ELOOP",
    "",
    "ENOMSG",
    "EIDRM",
    "ECHRNG",
    "EL2NSYNC",
    "EL3HLT",
    "EL3RST",
    "ELNRNG",
    "EUNATCH",
    "ENOCSI",
    "EL2HLT",
    "EBADE",
    "EBADR",
    "EXFULL",
    "ENOANO",
    "EBADRQC",
    "EBADSLT",
    "",
    "EBFONT",
    "ENOSTR",
    "ENODATA",
    "ETIME",
    "ENOSR",
    "ENONET",
    "ENOPKG",
    "EREMOTE",
    "ENOLINK",
    "EADV",
    "ESRMNT",
    "ECOMM",
    "EPROTO",
    "EMULTIHOP",
    "EDOTDOT",
    "EBADMSG",
    "EOVERFLOW",
    "ENOTUNIQ",
    "EBADFD",
    "EREMCHG",
    "ELIBACC",
    "ELIBBAD",
    "ELIBSCN",
    "ELIBMAX",
    "ELIBEXEC",
    "EILSEQ",
    "ERESTART",
    "ESTRPIPE",
    "EUSERS",
    "ENOTSOCK",
    "EDESTADDRREQ",
    "EMSGSIZE",
    "EPROTOTYPE",
    "ENOPROTOOPT",
    "EPROTONOSUPPORT",
    "ESOCKTNOSUPPORT",
    "EOPNOTSUPP",
    "EPFNOSUPPORT",
    "EAFNOSUPPORT",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "ENETDOWN",
    "ENETUNREACH",
    "ENETRESET",
    "ECONNABORTED",
    "ECONNRESET",
    "ENOBUFS",
    "EISCONN",
    "ENOTCONN",
    "ESHUTDOWN",
    "ETOOMANYREFS",
    "ETIMEDOUT",
    "ECONNREFUSED",
    "EHOSTDOWN",
    "EHOSTUNREACH",
    "EALREADY",
    "EINPROGRESS",
    "ESTALE",
    "EUCLEAN",
    "ENOTNAM",
    "ENAVAIL",
    "EISNAM",
    "EREMOTEIO",
    "EDQUOT",
    "ENOMEDIUM",
    "EMEDIUMTYPE",
    "ECANCELED",
    "ENOKEY",
    "EKEYEXPIRED",
    "EKEYREVOKED",
    "EKEYREJECTED",
    "EOWNERDEAD",
    "ENOTRECOVERABLE",
    "ERFKILL",
];

/// `ENOENT`; the number itself where it has no name.
pub(crate) fn error(number: i32, to: &mut Vec<u8>) {
    match usize::try_from(number).ok().and_then(|number| ERRORS.get(number)).filter(|name| !name.is_empty()) {
        Some(name) => to.extend_from_slice(name.as_bytes()),
        None => to.extend_from_slice(number.to_string().as_bytes()),
    }
}

/// Flags of `open` beside the access mode, those that contain others first.
const FLAGS: &[(u64, &str)] = &[
    (0o20200000, "O_TMPFILE"),
    (0o4010000, "O_SYNC"),
    (0o100, "O_CREAT"),
    (0o200, "O_EXCL"),
    (0o400, "O_NOCTTY"),
    (0o1000, "O_TRUNC"),
    (0o2000, "O_APPEND"),
    (0o4000, "O_NONBLOCK"),
    (0o10000, "O_DSYNC"),
    (0o40000, "O_DIRECT"),
    (0o200000, "O_DIRECTORY"),
    (0o400000, "O_NOFOLLOW"),
    (0o1000000, "O_NOATIME"),
    (0o2000000, "O_CLOEXEC"),
    (0o10000000, "O_PATH"),
];

/// `O_RDWR|O_CREAT`, as strace writes it. `O_LARGEFILE` says nothing where all files are.
pub(crate) fn open_flags(flags: u64, to: &mut Vec<u8>) {
    let flags = flags & 0xffff_ffff & !0o100000;
    to.extend_from_slice([&b"O_RDONLY"[..], b"O_WRONLY", b"O_RDWR", b"O_ACCMODE"][(flags & 3) as usize]);
    more(flags & !3, FLAGS, to);
}

/// The rest of a word of flags, each behind a bar.
fn more(mut left: u64, table: &[(u64, &str)], to: &mut Vec<u8>) {
    for (bits, name) in table {
        if left & bits == *bits {
            left &= !bits;
            to.push(b'|');
            to.extend_from_slice(name.as_bytes());
        }
    }
    if left != 0 {
        to.extend_from_slice(format!("|{left:#x}").as_bytes());
    }
}

fn named(number: u64, names: &[(u64, &str)], to: &mut Vec<u8>) {
    match names.iter().find(|(own, _)| *own == number) {
        Some((_, name)) => to.extend_from_slice(name.as_bytes()),
        None => to.extend_from_slice(number.to_string().as_bytes()),
    }
}

/// `F_DUPFD`.
pub(crate) fn command(number: u64, to: &mut Vec<u8>) {
    const COMMANDS: &[(u64, &str)] = &[
        (0, "F_DUPFD"),
        (1, "F_GETFD"),
        (2, "F_SETFD"),
        (3, "F_GETFL"),
        (4, "F_SETFL"),
        (5, "F_GETLK"),
        (6, "F_SETLK"),
        (7, "F_SETLKW"),
        (1030, "F_DUPFD_CLOEXEC"),
        (1031, "F_SETPIPE_SZ"),
        (1032, "F_GETPIPE_SZ"),
    ];
    named(number, COMMANDS, to);
}

/// `AF_INET`.
pub(crate) fn family(number: u64, to: &mut Vec<u8>) {
    const FAMILIES: &[(u64, &str)] = &[
        (0, "AF_UNSPEC"),
        (1, "AF_UNIX"),
        (2, "AF_INET"),
        (10, "AF_INET6"),
        (16, "AF_NETLINK"),
        (17, "AF_PACKET"),
    ];
    named(number, FAMILIES, to);
}

/// `SOCK_STREAM|SOCK_CLOEXEC`.
pub(crate) fn socket_type(number: u64, to: &mut Vec<u8>) {
    const TYPES: &[(u64, &str)] =
        &[(1, "SOCK_STREAM"), (2, "SOCK_DGRAM"), (3, "SOCK_RAW"), (5, "SOCK_SEQPACKET")];
    named(number & 0xf, TYPES, to);
    more(number & 0xffff_fff0, &[(0o2000000, "SOCK_CLOEXEC"), (0o4000, "SOCK_NONBLOCK")], to);
}

/// `127.0.0.1:80`, `unix:/run/x`, `[::1]:80`.
pub(crate) fn address(bytes: &[u8], to: &mut Vec<u8>) {
    let family = bytes.get(..2).map_or(0, |two| u16::from_ne_bytes([two[0], two[1]]));
    let port = || bytes.get(2..4).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]));
    let text = match (family, bytes) {
        (1, [_, _]) => "unix:".to_string(),
        (1, [_, _, 0, name @ ..]) => format!("unix:@{}", String::from_utf8_lossy(name)),
        (1, [_, _, path @ ..]) => {
            let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
            format!("unix:{}", String::from_utf8_lossy(&path[..end]))
        }
        (2, [_, _, _, _, a, b, c, d, ..]) => format!("{a}.{b}.{c}.{d}:{}", port()),
        (10, _) if bytes.len() >= 24 => {
            let mut own = [0; 16];
            own.copy_from_slice(&bytes[8..24]);
            format!("[{}]:{}", std::net::Ipv6Addr::from(own), port())
        }
        _ => format!("family {family}"),
    };
    to.extend_from_slice(text.as_bytes());
}

/// `SIGSEGV`.
pub fn signal(number: i32) -> String {
    const SIGNALS: &[&str] = &[
        "",
        "SIGHUP",
        "SIGINT",
        "SIGQUIT",
        "SIGILL",
        "SIGTRAP",
        "SIGABRT",
        "SIGBUS",
        "SIGFPE",
        "SIGKILL",
        "SIGUSR1",
        "SIGSEGV",
        "SIGUSR2",
        "SIGPIPE",
        "SIGALRM",
        "SIGTERM",
        "SIGSTKFLT",
        "SIGCHLD",
        "SIGCONT",
        "SIGSTOP",
        "SIGTSTP",
        "SIGTTIN",
        "SIGTTOU",
        "SIGURG",
        "SIGXCPU",
        "SIGXFSZ",
        "SIGVTALRM",
        "SIGPROF",
        "SIGWINCH",
        "SIGIO",
        "SIGPWR",
        "SIGSYS",
    ];
    let name =
        usize::try_from(number).ok().and_then(|number| SIGNALS.get(number)).filter(|name| !name.is_empty());
    name.map_or_else(|| format!("SIG{number}"), |name| (*name).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut to = Vec::new();
        write(&mut to);
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn names_are_those_of_strace() {
        assert_eq!(shown(|to| error(2, to)), "ENOENT");
        assert_eq!(shown(|to| error(9999, to)), "9999");
        assert_eq!(shown(|to| open_flags(0o2000102, to)), "O_RDWR|O_CREAT|O_CLOEXEC");
        assert_eq!(shown(|to| open_flags(0, to)), "O_RDONLY");
        assert_eq!(shown(|to| socket_type(0o2000001, to)), "SOCK_STREAM|SOCK_CLOEXEC");
        assert_eq!(shown(|to| command(1030, to)), "F_DUPFD_CLOEXEC");
        assert_eq!(shown(|to| address(&[2, 0, 0, 80, 127, 0, 0, 1], to)), "127.0.0.1:80");
        assert_eq!(shown(|to| address(b"\x01\0/run/x\0\0", to)), "unix:/run/x");
        assert_eq!(signal(11), "SIGSEGV");
    }
}
