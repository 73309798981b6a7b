//! More small C programs with one mistake each, and the rule that finds it.

/// Rule, what is said of it, the program.
pub const MORE: &[(&str, &str, &str)] = &[
    (
        "MisalignedRequest",
        "impossible alignment",
        "int main() { void *p = 0; return posix_memalign(&p, 3, 10) == EINVAL ? 0 : 9; }",
    ),
    (
        "OutOfMemory",
        "gets no memory",
        "int main() { volatile size_t n = (size_t)-1 / 4; return malloc(n) != 0; }",
    ),
    (
        "ReallocToZero",
        "0 bytes",
        "int main() { void *volatile p = malloc(10); p = realloc(p, 0); return 0; }",
    ),
    ("UnmapInvalid", "cannot unmap", "int main() { munmap((void *)1, 4096); return 0; }"),
    (
        "DoubleFree",
        "second time",
        "int main() { char *volatile p = malloc(2000); free(p); p = realloc(p, 3000); return 0; }",
    ),
    (
        "DestroyLocked",
        "which is locked",
        "int main() { pthread_mutex_lock(&a); pthread_mutex_destroy(&a); return 0; }",
    ),
    (
        "LockAfterDestroy",
        "which it has destroyed",
        "int main() { pthread_mutex_t m; pthread_mutex_init(&m, 0); pthread_mutex_destroy(&m); pthread_mutex_trylock(&m); return 0; }",
    ),
    (
        "RwlockUnlockNotHeld",
        "which it does not hold",
        "pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER; int main() { pthread_rwlock_rdlock(&r); pthread_rwlock_unlock(&r); pthread_rwlock_unlock(&r); return 0; }",
    ),
    (
        "InitTwice",
        "which is locked",
        "int main() { pthread_mutex_t m; pthread_mutex_init(&m, 0); pthread_mutex_lock(&m); pthread_mutex_init(&m, 0); return 0; }",
    ),
    (
        "SetvbufTooLate",
        "after using it",
        "int main() { FILE *f = tmpfile(); fputs(\"x\", f); setvbuf(f, 0, _IONBF, 0); fclose(f); return 0; }",
    ),
    (
        "PcloseOfFile",
        "by pclose",
        "int main() { FILE *f = fopen(\"/dev/null\", \"r\"); pclose(f); return 0; }",
    ),
    (
        "UngetcTwice",
        "two characters",
        "int main() { FILE *f = fopen(\"/etc/passwd\", \"r\"); fgetc(f); ungetc('a', f); ungetc('b', f); fclose(f); return 0; }",
    ),
    (
        "ReadFromWritingStream",
        "opened for writing",
        "int main() { FILE *f = fopen(\"/dev/null\", \"w\"); fgetc(f); fclose(f); return 0; }",
    ),
    (
        "StreamClosedTwice",
        "twice",
        "int main() { FILE *f = fopen(\"/dev/null\", \"r\"); fclose(f); fclose(f); return 0; }",
    ),
    (
        "StreamUseAfterClose",
        "after closing it",
        "int main() { FILE *f = fopen(\"/dev/null\", \"r\"); fclose(f); fileno(f); return 0; }",
    ),
    ("PipeStreamLeak", "a stream to a command", "int main() { return popen(\"true\", \"r\") == 0; }"),
    (
        "WriteReadOnly",
        "for reading only",
        "int main() { int f = open(\"/dev/null\", O_RDONLY); write(f, \"x\", 1); close(f); return 0; }",
    ),
    (
        "DuplicateOfClosed",
        "which it has closed",
        "int main() { int f = open(\"/dev/null\", O_RDONLY); close(f); dup(f); return 0; }",
    ),
    ("DuplicateOntoItself", "onto itself", "int main() { return dup2(1, 1) != 1; }"),
    ("PipeLeak", "an end of a pipe", "int main() { int p[2]; pipe(p); close(p[0]); return 0; }"),
    ("CloseNotOpen", "closes 77", "int main() { close(77); return 0; }"),
    (
        "SeekOnPipe",
        "no positions",
        "int main() { int p[2]; pipe(p); lseek(p[0], 0, SEEK_SET); close(p[0]); close(p[1]); return 0; }",
    ),
    (
        "SeekInvalid",
        "before the beginning",
        "int main() { int f = open(\"/etc/passwd\", O_RDONLY); lseek(f, -1, SEEK_SET); close(f); return 0; }",
    ),
    (
        "WriteToBrokenPipe",
        "nobody reads",
        "int main() { signal(SIGPIPE, SIG_IGN); int p[2]; pipe(p); close(p[0]); write(p[1], \"x\", 1); write(p[1], \"x\", 1); close(p[1]); return 0; }",
    ),
    (
        "StandardDescriptorTaken",
        "a standard stream",
        "int main() { close(0); return open(\"/etc/passwd\", O_RDONLY); }",
    ),
    (
        "LeakedByExec",
        "descriptor 3 open",
        "int main() { open(\"/etc/passwd\", O_RDONLY); execl(\"/bin/true\", \"true\", (char *)0); return 1; }",
    ),
    (
        "EpollAddedTwice",
        "where it is already",
        "#include <sys/epoll.h>\nint main() { int p[2], e = epoll_create1(0); struct epoll_event v = {0}; pipe(p); epoll_ctl(e, EPOLL_CTL_ADD, p[0], &v);\n\
         epoll_ctl(e, EPOLL_CTL_ADD, p[0], &v); close(e); close(p[0]); close(p[1]); return 0; }",
    ),
    (
        "BindTwice",
        "a second time",
        "int main() { int s = socket(AF_INET, SOCK_STREAM, 0); struct sockaddr_in at = {.sin_family = AF_INET}; bind(s, (void *)&at, sizeof at);\n\
         bind(s, (void *)&at, sizeof at); close(s); return 0; }",
    ),
    ("SocketLeak", "socket 3", "int main() { return socket(AF_INET, SOCK_STREAM, 0) < 0; }"),
    (
        "ReceiveUnconnected",
        "not connected",
        "int main() { char c; int s = socket(AF_INET, SOCK_STREAM, 0); recv(s, &c, 1, 0); close(s); return 0; }",
    ),
    (
        "VforkChildDoesMore",
        "does more than execute",
        "int main() { if (!vfork()) { pthread_mutex_lock(&a); pthread_mutex_unlock(&a); _exit(0); } wait(0); return 0; }",
    ),
    ("WaitForNobody", "does not have", "int main() { wait(0); return 0; }"),
    ("ExecFailed", "cannot execute", "int main() { execl(\"/etc/passwd\", \"x\", (char *)0); return 0; }"),
    ("ShellCommand", "the shell", "int main() { return system(\"exit 0\"); }"),
    ("ExitTwice", "while it exits", "void late() { exit(3); }\nint main() { atexit(late); exit(0); }"),
    (
        "ReaddirAfterClosedir",
        "after closing it",
        "int main() { DIR *d = opendir(\"/\"); closedir(d); dirfd(d); return 0; }",
    ),
    (
        "DirectoryClosedTwice",
        "twice",
        "int main() { DIR *d = opendir(\"/\"); closedir(d); closedir(d); return 0; }",
    ),
    (
        "ClosedAgainByDescriptor",
        "descriptor 3",
        "int main() { FILE *f = fopen(\"/dev/null\", \"r\"); int n = fileno(f); fclose(f); close(n); return 0; }",
    ),
    (
        "LockAfterDestroy",
        "which it has destroyed",
        "int main() { pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_destroy(&a); pthread_mutex_lock(&a); return 0; }",
    ),
    (
        "SendUnconnected",
        "not connected",
        "int main() { int s = socket(AF_INET, SOCK_STREAM, 0); send(s, \"x\", 1, MSG_NOSIGNAL); close(s); return 0; }",
    ),
    (
        "RenameWithoutSync",
        "not stored",
        "int main(int n, char **v) { char x[4096], y[4096]; strcpy(x, v[0]); strcat(x, \"-new\"); strcpy(y, x); strcat(y, \"er\");\n\
         int f = creat(x, 0600); write(f, \"x\", 1); close(f); rename(x, y); unlink(y); return 0; }",
    ),
    (
        "SeekdirWithoutTelldir",
        "without having asked",
        "int main() { DIR *d = opendir(\"/\"); seekdir(d, 0); closedir(d); return 0; }",
    ),
    (
        "DirectoryLeak",
        "never closes directory",
        "int main() { DIR *d = opendir(\"/\"); return readdir(d) == 0; }",
    ),
    (
        "TemporaryFileLeft",
        "leaves its temporary file",
        "int main(int n, char **v) { char x[4096]; strcpy(x, v[0]); strcat(x, \"-XXXXXX\"); close(mkstemp(x)); return 0; }",
    ),
    (
        "DeletedTwice",
        "twice",
        "int main(int n, char **v) { char x[4096]; strcpy(x, v[0]); strcat(x, \"-gone\"); close(creat(x, 0600)); unlink(x); unlink(x); return 0; }",
    ),
    (
        "WritableByAll",
        "lets everybody write",
        "int main(int n, char **v) { char x[4096]; strcpy(x, v[0]); strcat(x, \"-all\"); close(creat(x, 0600)); chmod(x, 0666); unlink(x); return 0; }",
    ),
    ("FolderNotEmpty", "not empty", "int main() { rmdir(\"/etc\"); return 0; }"),
    (
        "ThreadNeverJoined",
        "neither joins nor detaches",
        "void *one(void *x) { return 0; }\nint main() { pthread_t t; pthread_create(&t, 0, one, 0); usleep(1000); return 0; }",
    ),
];
