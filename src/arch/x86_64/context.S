// SPDX-License-Identifier: Apache-2.0
// The context switch on x86-64 (System V ABI). A suspended stack, from its sp:
//   0 mxcsr (4), x87 control word (2)   8 r12   16 r13   24 r14   32 r15   40 rbx   48 rbp   56 return address
//
// It ends with a jump: a `ret` would be predicted to go to the caller of this switch, and always wrongly. `notrack`
// because the target is no branch target to indirect-branch tracking. Shadow stacks are not switched, and so not
// claimed in the property note: the loader then leaves them off.
// The floating-point control words cost more than all else (bench/micro/switch.cpp: 5.4 against 2.1 ns), most of it the
// reading; writing them only where they differ saves nothing. A caller may rely on them, so they are kept.

        .text
        .globl  weft_context_switch
        .hidden weft_context_switch
        .type   weft_context_switch, @function
        .p2align 5
weft_context_switch:                    // rdi = from, rsi = to.sp, rdx = value
        .cfi_startproc
        endbr64
        leaq    -56(%rsp), %rsp
        .cfi_adjust_cfa_offset 56
        stmxcsr 0(%rsp)
        fnstcw  4(%rsp)
        movq    %r12, 8(%rsp)
        movq    %r13, 16(%rsp)
        movq    %r14, 24(%rsp)
        movq    %r15, 32(%rsp)
        movq    %rbx, 40(%rsp)
        movq    %rbp, 48(%rsp)
        .cfi_rel_offset r12, 8
        .cfi_rel_offset r13, 16
        .cfi_rel_offset r14, 24
        .cfi_rel_offset r15, 32
        .cfi_rel_offset rbx, 40
        .cfi_rel_offset rbp, 48
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        // Same layout on both stacks: the unwind rules above hold on either side of this line.
        .globl  weft_context_suspended
        .hidden weft_context_suspended
weft_context_suspended:                 // a debugger that sets rsp to a suspended sp and rip to here can unwind
        movq    56(%rsp), %r8
        movq    8(%rsp), %r12
        movq    16(%rsp), %r13
        movq    24(%rsp), %r14
        movq    32(%rsp), %r15
        movq    40(%rsp), %rbx
        movq    48(%rsp), %rbp
        ldmxcsr 0(%rsp)
        fldcw   4(%rsp)
        movq    %rdx, %rax
        leaq    64(%rsp), %rsp
        .cfi_def_cfa_offset 0
        .cfi_register rip, r8
        .cfi_same_value r12
        .cfi_same_value r13
        .cfi_same_value r14
        .cfi_same_value r15
        .cfi_same_value rbx
        .cfi_same_value rbp
        notrack jmp *%r8
        .cfi_endproc
        .size   weft_context_switch, . - weft_context_switch

// Where a fresh context starts: rbx = entry, rax = value.
        .globl  weft_context_start
        .hidden weft_context_start
        .type   weft_context_base, @function
        .p2align 4
weft_context_base:
        .cfi_startproc
        .cfi_undefined rip              // the end of the stack, to every unwinder
        .cfi_undefined rbp
        nop                             // unwinders look up the address before a return address
weft_context_start:
        endbr64
        movq    %rax, %rdi
        notrack call *%rbx
        ud2
        .cfi_endproc
        .size   weft_context_base, . - weft_context_base

// Calls f(argument) so that unwinders take the suspended stack for the one that called.
        .globl  weft_context_walk
        .hidden weft_context_walk
        .type   weft_context_walk, @function
        .p2align 4
weft_context_walk:                      // rdi = suspended.sp, rsi = f, rdx = argument
        .cfi_startproc
        endbr64
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        movq    %rdi, %rbx
        movq    %rdx, %rdi
        .cfi_remember_state
        .cfi_def_cfa rbx, 64
        .cfi_offset r12, -56
        .cfi_offset r13, -48
        .cfi_offset r14, -40
        .cfi_offset r15, -32
        .cfi_offset rbx, -24
        .cfi_offset rbp, -16
        .cfi_offset rip, -8
        call    *%rsi
        .cfi_restore_state
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_same_value rbx
        ret
        .cfi_endproc
        .size   weft_context_walk, . - weft_context_walk

        .section .note.GNU-stack, "", @progbits
        .section .note.gnu.property, "a"
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 1, 0     // GNU_PROPERTY_X86_FEATURE_1_AND: IBT
