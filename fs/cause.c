/* See fs.h. */
#include <errno.h>

#include "fs/fs.h"

enum fs_cause fs_cause(int error)
{
    static const struct {
        int error;
        enum fs_cause cause;
    } known[] = {
        { ENOENT, FS_CAUSE_NOT_FOUND },
        { EACCES, FS_CAUSE_DENIED },
        { EPERM, FS_CAUSE_DENIED },
        { EROFS, FS_CAUSE_SAFE_MODE },
        { EDQUOT, FS_CAUSE_QUOTA },
        { ENOSPC, FS_CAUSE_NO_SPACE },
        { EHOSTDOWN, FS_CAUSE_STANDBY },
        { EILSEQ, FS_CAUSE_CHECKSUM },
        { EPROTO, FS_CAUSE_PROTOCOL },
        { EKEYREJECTED, FS_CAUSE_AUTH },
        { EBADMSG, FS_CAUSE_PROTOCOL },
        { ETIMEDOUT, FS_CAUSE_TIMEOUT },
        { ESTALE, FS_CAUSE_CHANGED },
        { EOPNOTSUPP, FS_CAUSE_UNSUPPORTED },
        { EINVAL, FS_CAUSE_UNSUPPORTED },
        { EEXIST, FS_CAUSE_EXISTS },
        { ENAMETOOLONG, FS_CAUSE_UNSUPPORTED },
        { ENOTDIR, FS_CAUSE_EXISTS },
        { EISDIR, FS_CAUSE_EXISTS },
        { ELOOP, FS_CAUSE_EXISTS },
        { ENOTEMPTY, FS_CAUSE_EXISTS },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(known); i++)
        if (known[i].error == -error)
            return known[i].cause;
    return FS_CAUSE_OTHER;
}

bool fs_cause_retry(enum fs_cause cause)
{
    static const unsigned never = 1u << FS_CAUSE_NOT_FOUND | 1u << FS_CAUSE_DENIED |
                                  1u << FS_CAUSE_QUOTA | 1u << FS_CAUSE_AUTH |
                                  1u << FS_CAUSE_UNSUPPORTED | 1u << FS_CAUSE_EXISTS;

    return !(never & 1u << cause);
}
