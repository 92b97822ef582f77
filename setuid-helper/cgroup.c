/* The container's cgroup. The daemon owns its delegated subtree and has made the group and its
 * limits; here it is proved to be what it should be, by descriptor, and gets the device filter. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

int hlp_open_cgroup(const struct hlp *h)
{
    struct stat st;
    struct statfs fs;
    /* Names from the configuration; /sys/fs/cgroup and its parents are root's by nature. */
    int root = hlp_openat2(AT_FDCWD, h->cfg.cgroup_root, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    if (root < 0)
        hlp_fail(EXE_STATUS_CGROUP, -root, h->cfg.cgroup_root);
    if (fstatfs(root, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC || fstat(root, &st) < 0 ||
        st.st_uid != h->nm.uid)
        hlp_fail(EXE_STATUS_CGROUP, EPERM, h->cfg.cgroup_root);
    int fd = hlp_open_at(root, h->container, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    (void)close(root);
    if (fd < 0)
        hlp_fail(EXE_STATUS_CGROUP, -fd, h->container);
    if (fstat(fd, &st) < 0 || st.st_uid != h->nm.uid)
        hlp_fail(EXE_STATUS_CGROUP, EPERM, h->container);
    return fd;
}

/* Content of one of the group's files, NUL-terminated; -ENOENT where the controller is not on. */
static ssize_t content(int cgroup, const char *name, char *buf, size_t size)
{
    int fd = hlp_open_at(cgroup, name, O_RDONLY);
    if (fd < 0)
        return fd;
    ssize_t n = read(fd, buf, size - 1);
    int error = errno;
    (void)close(fd);
    if (n < 0)
        return -error;
    buf[n] = '\0';
    return n;
}

static bool limited(int cgroup, const char *name)
{
    char text[64];
    return content(cgroup, name, text, sizeof(text)) > 0 && strcmp(text, "max\n") != 0;
}

void hlp_check_cgroup(const struct hlp *h, int cgroup)
{
    char text[64];
    ssize_t n = content(cgroup, "cgroup.procs", text, sizeof(text));
    if (n != 0)
        hlp_fail(n > 0 ? EXE_STATUS_CGROUP_BUSY : EXE_STATUS_CGROUP, n < 0 ? (int)-n : EBUSY,
                 h->container);
    n = content(cgroup, "cgroup.type", text, sizeof(text));
    if (n < 0 || strcmp(text, "domain\n") != 0)
        hlp_fail(EXE_STATUS_CGROUP, EINVAL, h->container);
    if (!h->cfg.unenforced_allowed &&
        (!limited(cgroup, "memory.max") || !limited(cgroup, "pids.max")))
        hlp_fail(EXE_STATUS_CGROUP_LIMITS, EINVAL, h->container);
}

/* The program, by hand: context is { access_type = access << 16 | type, major, minor }.
 * Allows character devices 1:3 null, 1:5 zero, 1:7 full, 1:8 random, 1:9 urandom, 5:0 tty, 5:2
 * ptmx and 136:* (pts) for reading and writing; mknod of anything and everything else is denied. */
#define INSN(c, d, s, o, i) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }
#define LOAD(reg, offset) INSN(BPF_LDX | BPF_MEM | BPF_W, reg, BPF_REG_1, offset, 0)
#define MOVE(reg, from) INSN(BPF_ALU | BPF_MOV | BPF_X, reg, from, 0, 0)
#define AND(reg, v) INSN(BPF_ALU | BPF_AND | BPF_K, reg, 0, 0, v)
#define RESULT(v) INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, v)
#define EQUAL(reg, v, skip) INSN(BPF_JMP | BPF_JEQ | BPF_K, reg, 0, skip, v)
#define NOT_EQUAL(reg, v, skip) INSN(BPF_JMP | BPF_JNE | BPF_K, reg, 0, skip, v)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static const struct bpf_insn device_filter[] = {
    /*  0 */ LOAD(BPF_REG_2, 0),                   /* access and type */
    /*  1 */ LOAD(BPF_REG_4, 4),                   /* major */
    /*  2 */ LOAD(BPF_REG_5, 8),                   /* minor */
    /*  3 */ MOVE(BPF_REG_3, BPF_REG_2),
    /*  4 */ AND(BPF_REG_3, 0xffff),
    /*  5 */ NOT_EQUAL(BPF_REG_3, BPF_DEVCG_DEV_CHAR, 13), /* → 19 deny */
    /*  6 */ AND(BPF_REG_2, BPF_DEVCG_ACC_MKNOD << 16),
    /*  7 */ NOT_EQUAL(BPF_REG_2, 0, 11),          /* → 19 */
    /*  8 */ EQUAL(BPF_REG_4, 136, 12),            /* pts → 21 allow */
    /*  9 */ EQUAL(BPF_REG_4, 5, 6),               /* → 16 */
    /* 10 */ NOT_EQUAL(BPF_REG_4, 1, 8),           /* → 19 */
    /* 11 */ EQUAL(BPF_REG_5, 3, 9),               /* → 21 */
    /* 12 */ EQUAL(BPF_REG_5, 5, 8),
    /* 13 */ EQUAL(BPF_REG_5, 7, 7),
    /* 14 */ EQUAL(BPF_REG_5, 8, 6),
    /* 15 */ EQUAL(BPF_REG_5, 9, 5),               /* falls to 19 through 16…18: major is 1 */
    /* 16 */ NOT_EQUAL(BPF_REG_4, 5, 2),           /* → 19 */
    /* 17 */ EQUAL(BPF_REG_5, 0, 3),               /* → 21 */
    /* 18 */ EQUAL(BPF_REG_5, 2, 2),               /* → 21 */
    /* 19 */ RESULT(0),
    /* 20 */ EXIT,
    /* 21 */ RESULT(1),
    /* 22 */ EXIT,
};

void hlp_attach_device_filter(int cgroup)
{
    union bpf_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attr.insns = (uint64_t)(uintptr_t)device_filter;
    attr.insn_cnt = sizeof(device_filter) / sizeof(device_filter[0]);
    attr.license = (uint64_t)(uintptr_t)"Apache-2.0";
    long prog = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
    if (prog < 0)
        hlp_fail(EXE_STATUS_DEVICE_FILTER, errno, "BPF_PROG_LOAD");
    memset(&attr, 0, sizeof(attr));
    attr.target_fd = (uint32_t)cgroup;
    attr.attach_bpf_fd = (uint32_t)prog;
    attr.attach_type = BPF_CGROUP_DEVICE;
    attr.attach_flags = BPF_F_ALLOW_MULTI; /* ours and the unit's DevicePolicy= both decide */
    if (syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr)) < 0)
        hlp_fail(EXE_STATUS_DEVICE_FILTER, errno, "BPF_PROG_ATTACH");
    (void)close((int)prog);
}
