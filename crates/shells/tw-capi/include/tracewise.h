/* Tracewise in a program: a specification is given the program's events, and says what they violate, while the program runs.
 *
 *     tracewise_monitor *monitor = tracewise_new(text);
 *     if (tracewise_error(monitor)) …
 *     tracewise_argument file = {"file", TRACEWISE_TEXT, {.text = "a.txt"}};
 *     tracewise_event(monitor, "open", &file, 1, told, NULL);
 *     …
 *     tracewise_finish(monitor, told, NULL);
 *     tracewise_free(monitor);
 *
 * A monitor is used by one thread at a time. `tracewise generate c SPEC.tw` writes a function per event. */
#ifndef TRACEWISE_H
#define TRACEWISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A specification at work. */
typedef struct tracewise_monitor tracewise_monitor;

/* What a value is. */
enum { TRACEWISE_NULL = 0, TRACEWISE_BOOL = 1, TRACEWISE_INT = 2, TRACEWISE_REAL = 3, TRACEWISE_TEXT = 4, TRACEWISE_POINTER = 5 };

/* An argument of an event, by name. Texts are UTF-8 and end with a zero byte; they are copied. A pointer is known by its address. */
typedef struct tracewise_argument {
    const char *name;
    int kind;
    union {
        int boolean;
        int64_t integer;
        double real;
        const char *text;
        const void *pointer;
    } value;
} tracewise_argument;

/* Is told a violation: `data` as given, the name of the property or monitor, `error`, `warning` or `suggestion`, and a sentence. The texts are
 * there until it returns. */
typedef void (*tracewise_told)(void *data, const char *name, const char *severity, const char *sentence);

/* A monitor of the specification in this text. Never null; what is wrong with the text says tracewise_error. */
tracewise_monitor *tracewise_new(const char *specification);

/* What went wrong last, or null. The text is there until the next call. */
const char *tracewise_error(const tracewise_monitor *monitor);

/* An event happens. Each violation is told; returns how many there are, or -1 for an error. `told` may be null. */
int tracewise_event(tracewise_monitor *monitor, const char *event, const tracewise_argument *arguments, size_t count, tracewise_told told, void *data);

/* Nothing more happens: tells what is violated because of that. Returns how many there are, or -1 for an error. */
int tracewise_finish(tracewise_monitor *monitor, tracewise_told told, void *data);

/* Frees a monitor; null is none. */
void tracewise_free(tracewise_monitor *monitor);

#ifdef __cplusplus
}
#endif
#endif
