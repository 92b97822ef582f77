/* Logging for programs (libraries log at debug only).
 *
 * Writes to the journal when stderr is connected to it (fields MESSAGE=, PRIORITY=, CONTAINER_ID=,
 * APPLICATION_ID=, CODE_FILE/LINE/FUNC), otherwise one line on stderr: "2026-01-02T03:04:05.678Z
 * LEVEL component: message". Control characters in the message are escaped: text of peers, users
 * and archives is hostile. */
#ifndef SELVEDGE_COMMON_LOG_H
#define SELVEDGE_COMMON_LOG_H

#include "common/base.h"

enum sv_log_level { /* syslog's numbers */
                    SV_LOG_ERR = 3,
                    SV_LOG_WARNING = 4,
                    SV_LOG_NOTICE = 5,
                    SV_LOG_INFO = 6,
                    SV_LOG_DEBUG = 7,
};

/* Called once by main. `program` must have static lifetime. The level comes from SELVEDGE_LOG_LEVEL
 * (err|warning|notice|info|debug), else info. */
void sv_log_init(const char *program);
void sv_log_set_level(enum sv_log_level level);
enum sv_log_level sv_log_get_level(void);
/* "err" … "debug". */
const char *sv_log_level_word(enum sv_log_level level);
/* 0, or -EINVAL: there is no level of that name. */
int sv_log_level_of(const char *name, enum sv_log_level *ret) _must_use_;
/* As sv_log_init() was told: SYSLOG_IDENTIFIER= of the journal. */
const char *sv_log_program(void);
/* True: to the journal; false: lines on stderr. sv_log_init() has chosen. */
bool sv_log_to_journal(void);
void sv_log_set_journal(bool on);

/* `object`: container or application id ("container_…", "application_…") for the journal field, or
 * NULL. */
void sv_log_full(enum sv_log_level level, const char *object, const char *file, int line,
                 const char *func, const char *fmt, ...) _printf_(6, 7);

#define sv_log(level, object, ...)                                                                 \
    do {                                                                                           \
        if ((level) <= sv_log_get_level())                                                         \
            sv_log_full(level, object, __FILE__, __LINE__, __func__, __VA_ARGS__);                 \
    } while (0)
#define sv_log_err(...) sv_log(SV_LOG_ERR, NULL, __VA_ARGS__)
#define sv_log_warning(...) sv_log(SV_LOG_WARNING, NULL, __VA_ARGS__)
#define sv_log_notice(...) sv_log(SV_LOG_NOTICE, NULL, __VA_ARGS__)
#define sv_log_info(...) sv_log(SV_LOG_INFO, NULL, __VA_ARGS__)
#define sv_log_debug(...) sv_log(SV_LOG_DEBUG, NULL, __VA_ARGS__)

#endif
