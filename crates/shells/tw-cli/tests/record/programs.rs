//! Small C programs, each with one mistake, and the rule that finds it.

pub const HEAD: &str = "
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
";

/// Rule, what is said of it, the program.
pub const WRONG: &[(&str, &str, &str)] = &[
    (
        "UseAfterClose",
        "descriptor 3",
        "int main() { int f = open(\"/dev/null\", O_RDONLY); char c; close(f); read(f, &c, 1); return 0; }",
    ),
    (
        "DescriptorClosedTwice",
        "descriptor 3",
        "int main() { int f = open(\"/dev/null\", O_RDONLY); close(f); close(f); return 4; }",
    ),
    ("DoubleFree", "block 0x", "int main() { char *p = malloc(20); p[0] = 0; free(p); free(p); return 0; }"),
    (
        "LockOrder",
        "violated",
        "void *one(void *x) { pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); return 0; }\n\
         void *two(void *x) { pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); return 0; }\n\
         int main() { pthread_t t; pthread_create(&t, 0, one, 0); pthread_join(t, 0); pthread_create(&t, 0, two, 0); pthread_join(t, 0); return 0; }",
    ),
    (
        "DescriptorLeak",
        "descriptor 3, which is /dev/null",
        "int main() { int f = open(\"/dev/null\", O_RDONLY); char c; read(f, &c, 1); return 0; }",
    ),
    (
        "StreamLeak",
        ", which is /dev/null",
        "int main() { FILE *f = fopen(\"/dev/null\", \"r\"); return f == 0; }",
    ),
    (
        "StreamReadAfterWrite",
        "right after writing",
        "int main() { FILE *f = tmpfile(); char s[9]; fputs(\"x\\n\", f); fgets(s, 9, f); fclose(f); return 0; }",
    ),
    ("FcloseOfCommand", "by fclose", "int main() { FILE *f = popen(\"true\", \"r\"); fclose(f); return 0; }"),
    (
        "ClosedAgainByDescriptor",
        "descriptor 3",
        "int main() { int f = open(\"/dev/null\", O_RDONLY); FILE *s = fdopen(f, \"r\"); fclose(s); close(f); return 0; }",
    ),
    (
        "WriteToReadingStream",
        "opened for reading",
        "int main() { FILE *f = fopen(\"/dev/null\", \"r\"); fputs(\"x\", f); fclose(f); return 0; }",
    ),
    (
        "ClosedBeneathDirectory",
        "descriptor 3",
        "int main() { DIR *d = opendir(\"/\"); close(dirfd(d)); closedir(d); return 0; }",
    ),
    (
        "DirectoryNeverRead",
        "closes it unread",
        "int main() { DIR *d = opendir(\"/\"); closedir(d); return 0; }",
    ),
    (
        "ReadWriteOnly",
        "writing only",
        "int main() { int f = open(\"/dev/null\", O_WRONLY); char c; read(f, &c, 1); close(f); return 0; }",
    ),
    (
        "AcceptBeforeListen",
        "does not listen",
        "int main() { int s = socket(AF_INET, SOCK_STREAM, 0); accept(s, 0, 0); close(s); return 0; }",
    ),
    (
        "ListenBeforeBind",
        "no address",
        "int main() { int s = socket(AF_INET, SOCK_STREAM, 0); listen(s, 1); close(s); return 0; }",
    ),
    (
        "SendUnconnected",
        "not connected",
        "int main() { signal(SIGPIPE, SIG_IGN); int s = socket(AF_INET, SOCK_STREAM, 0); recv(s, &s, 1, 0); send(s, \"x\", 1, 0);\n\
         struct sockaddr_in to = {0}; int u = socket(AF_INET, SOCK_DGRAM, 0); send(u, \"x\", 1, 0); close(s); close(u); return 0; }",
    ),
    (
        "SendAfterShutdown",
        "after shutting it",
        "int main() { signal(SIGPIPE, SIG_IGN); int p[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, p); shutdown(p[0], SHUT_WR); send(p[0], \"x\", 1, 0);\n\
         close(p[0]); close(p[1]); return 0; }",
    ),
    (
        "UnlockNotHeld",
        "does not hold",
        "int main() { pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_unlock(&a); return 0; }",
    ),
    (
        "LockHeldAtThreadEnd",
        "ends holding mutex",
        "void *one(void *x) { pthread_mutex_lock(&a); return 0; }\n\
         int main() { pthread_t t; pthread_create(&t, 0, one, 0); pthread_join(t, 0); return 0; }",
    ),
    (
        "LockAcrossFork",
        "forks holding",
        "int main() { pthread_mutex_lock(&a); int c = fork(); if (!c) _exit(0); waitpid(c, 0, 0); pthread_mutex_unlock(&a); return 0; }",
    ),
    (
        "SelfDeadlock",
        "which it holds",
        "int main() { pthread_mutexattr_t k; pthread_mutexattr_init(&k); pthread_mutexattr_settype(&k, PTHREAD_MUTEX_ERRORCHECK);\n\
         pthread_mutex_t m; pthread_mutex_init(&m, &k); pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }",
    ),
    (
        "ZombieChild",
        "never waits for its child",
        "int main() { if (!fork()) _exit(0); usleep(1000); return 0; }",
    ),
    (
        "KillReaped",
        "which has ended",
        "int main() { int c = fork(); if (!c) _exit(0); waitpid(c, 0, 0); kill(c, 0); return 0; }",
    ),
    (
        "FreeOfMapped",
        "which it has mapped",
        "int main() { char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); free(p + 0); return 0; }",
    ),
    (
        "CheckThenUse",
        "/dev/null",
        "int main() { if (!access(\"/dev/null\", R_OK)) close(open(\"/dev/null\", O_RDONLY)); return 0; }",
    ),
    ("Aborted", "aborts", "int main() { abort(); }"),
    (
        "UnmapTwice",
        "twice",
        "int main() { char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(p, 4096); munmap(p, 4096); return 0; }",
    ),
];

/// Every thread counts under a lock, and tells its number by a write to nowhere.
pub const COUNTING: &str = "
enum { THREADS = 8, EACH = 20000 };
int turn;
void *count(void *own) {
    int nowhere = *(int *)own;
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&a);
        pwrite(-1, \"\", 0, turn++);
        pthread_mutex_unlock(&a);
        lseek(nowhere, i, SEEK_SET);
    }
    return 0;
}
int main() {
    pthread_t t[THREADS];
    int f[THREADS];
    for (int i = 0; i < THREADS; i++) { f[i] = -100 - i; pthread_create(t + i, 0, count, f + i); }
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
    printf(\"%d\\n\", turn);
    return 0;
}
";

/// Forks, executes, closes every descriptor, uses vfork, and is killed in the end.
pub const WILD: &str = "
int main(int argc, char **argv) {
    if (argc > 1) { close_range(3, ~0U, 0); close(0); close(1); write(2, \"executed\\n\", 9); kill(getpid(), SIGKILL); }
    int c = fork();
    if (!c) { chdir(\"/\"); _exit(3); }
    waitpid(c, 0, 0);
    c = vfork();
    if (!c) { execl(\"/bin/true\", \"true\", (char *)0); _exit(9); }
    waitpid(c, 0, 0);
    for (int i = 3; i < 1024; i++) close(i);
    access(\"/still-here\", 0);
    fflush(0);
    execl(\"/proc/self/exe\", argv[0], \"again\", (char *)0);
    return 1;
}
";

/// Calls from a handler that interrupts calls.
pub const SIGNALS: &str = "
#include <sys/time.h>
volatile int handled;
void handler(int s) { int e = errno; handled++; lseek(-7, handled, SEEK_SET); errno = e; }
int main() {
    struct itimerval every = {{0, 200}, {0, 200}};
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &every, 0);
    for (int i = 0; i < 200000 || handled < 20; i++) { errno = 5; lseek(-8, i, SEEK_SET); if (errno != EBADF) return 9; }
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, 0);
    printf(\"%d\\n\", handled);
    return 0;
}
";
