/* Attributes and small macros for all components. No state. */
#ifndef SELVEDGE_COMMON_BASE_H
#define SELVEDGE_COMMON_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#define _must_use_ __attribute__((warn_unused_result))
#define _printf_(f, a) __attribute__((format(printf, f, a)))
#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _unused_ __attribute__((unused))

/* Built with AddressSanitizer, whose runtime needs terabytes of address space and more system
 * calls. */
#if defined(__SANITIZE_ADDRESS__)
#define SV_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SV_SANITIZED 1
#endif
#endif

#define SV_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SV_MIN(a, b) ((a) < (b) ? (a) : (b))
#define SV_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Moves an owned pointer out of a local that has a cleanup attribute. */
#define SV_TAKE(p)                                                                                 \
    ({                                                                                             \
        __typeof__(p) sv_taken_ = (p);                                                             \
        (p) = NULL;                                                                                \
        sv_taken_;                                                                                 \
    })

static inline void sv_freep(void *p)
{
    free(*(void **)p);
}
#define _cleanup_free_ _cleanup_(sv_freep)

#endif
