/* Probes that several parts of `selvedge doctor` use. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "client/doctor/doctor.h"
#include "common/fd.h"

const char *cli_doctor_read_line(const char *path, char *buf, size_t size)
{
    _cleanup_free_ char *text = NULL;
    size_t len = 0;

    buf[0] = '\0';
    if (sv_read_file_at(AT_FDCWD, path, 65536, &text, &len) >= 0)
        (void)snprintf(buf, size, "%.*s", (int)strcspn(text, "\n"), text);
    return buf;
}

const char *cli_doctor_find_unsafe(const char *path, uid_t owner, char *buf, size_t size)
{
    struct stat st;
    size_t len = strlen(path);

    if (len >= size)
        return path;
    memcpy(buf, path, len + 1);
    for (bool last = true;; last = false) {
        if (lstat(buf, &st) == 0 && !S_ISLNK(st.st_mode) &&
            ((st.st_uid != 0 && st.st_uid != owner) ||
             (st.st_mode & 022 && !(S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX && !last))))
            return buf;
        char *slash = strrchr(buf, '/');
        if (!slash || strcmp(buf, "/") == 0)
            return NULL;
        slash[slash == buf ? 1 : 0] = '\0';
    }
}
