/* A program that opens a file twice, and is told so. Built in the root of the project by
 *
 *     cargo build --release -p tw-capi
 *     gcc -Icrates/shells/tw-capi/include crates/shells/tw-capi/examples/files.c -Ltarget/release -ltw_capi -o files */
#include <stdio.h>
#include "tracewise.h"

static const char *SPECIFICATION =
    "monitor Once(file) \"a file is opened once at a time\" {"
    "    event open(file); event close(file);"
    "    fsm : shut [ open -> ready ] ready [ close -> shut ];"
    "}"
    "monitor Left(file) \"every file is closed\" warning {"
    "    creation event open(file); event close(file);"
    "    ltl : F close;"
    "}";

static void told(void *data, const char *name, const char *severity, const char *sentence) {
    (void)name;
    ++*(int *)data;
    printf("%s: %s\n", severity, sentence);
}

int main(void) {
    int count = 0;
    tracewise_monitor *monitor = tracewise_new(SPECIFICATION);
    if (tracewise_error(monitor)) {
        fprintf(stderr, "%s\n", tracewise_error(monitor));
        return 2;
    }
    tracewise_argument file = {"file", TRACEWISE_TEXT, {.text = "a.txt"}};
    tracewise_event(monitor, "open", &file, 1, told, &count);
    tracewise_event(monitor, "open", &file, 1, told, &count);
    tracewise_finish(monitor, told, &count);
    tracewise_free(monitor);
    return count == 2 ? 0 : 1;
}
