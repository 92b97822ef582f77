/* Instructions of the eBPF programs that container-prepare writes. Comparisons are of 32 bits: the
 * 64-bit ones extend the sign of their constant, which would make every address from 128.0.0.0 on a
 * mismatch. */
#ifndef SELVEDGE_SETUID_HELPER_BPF_CODE_H
#define SELVEDGE_SETUID_HELPER_BPF_CODE_H

#include <linux/bpf.h>

#define INSN(c, d, s, o, i)                                                                        \
    (struct bpf_insn)                                                                              \
    {                                                                                              \
        .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (int)(i)                   \
    }
#define LOAD(reg, offset) INSN(BPF_LDX | BPF_MEM | BPF_W, reg, BPF_REG_1, offset, 0)
#define STORE(offset, reg) INSN(BPF_STX | BPF_MEM | BPF_W, BPF_REG_1, reg, offset, 0)
#define MOVE(reg, from) INSN(BPF_ALU | BPF_MOV | BPF_X, reg, from, 0, 0)
#define SET(reg, v) INSN(BPF_ALU | BPF_MOV | BPF_K, reg, 0, 0, v)
#define AND(reg, v) INSN(BPF_ALU | BPF_AND | BPF_K, reg, 0, 0, v)
#define WHEN(reg, v, skip) INSN(BPF_JMP32 | BPF_JEQ | BPF_K, reg, 0, skip, v)
#define UNLESS(reg, v, skip) INSN(BPF_JMP32 | BPF_JNE | BPF_K, reg, 0, skip, v)
#define RETURN(v)                                                                                  \
    INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, v), INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

#endif
