// SPDX-License-Identifier: Apache-2.0
// The context switch on AArch64 (AAPCS64). A suspended stack, from its sp:
//   0 d8-d15   64 x19-x28   144 x29, x30   160 fpcr   (176 bytes)
//
// It ends with `ret`, unlike x86-64: under branch-target identification a `br` could not go to a call's return address.
// fpcr is written only where it differs.

        .text
        .globl  weft_context_switch
        .hidden weft_context_switch
        .type   weft_context_switch, %function
        .p2align 5
weft_context_switch:                    // x0 = from, x1 = to.sp, x2 = value
        .cfi_startproc
        hint    #34                     // bti c
        sub     sp, sp, #176
        .cfi_adjust_cfa_offset 176
        stp     d8, d9, [sp, #0]
        stp     d10, d11, [sp, #16]
        stp     d12, d13, [sp, #32]
        stp     d14, d15, [sp, #48]
        stp     x19, x20, [sp, #64]
        stp     x21, x22, [sp, #80]
        stp     x23, x24, [sp, #96]
        stp     x25, x26, [sp, #112]
        stp     x27, x28, [sp, #128]
        stp     x29, x30, [sp, #144]
        mrs     x9, fpcr
        str     x9, [sp, #160]
        .cfi_rel_offset x19, 64
        .cfi_rel_offset x20, 72
        .cfi_rel_offset x21, 80
        .cfi_rel_offset x22, 88
        .cfi_rel_offset x23, 96
        .cfi_rel_offset x24, 104
        .cfi_rel_offset x25, 112
        .cfi_rel_offset x26, 120
        .cfi_rel_offset x27, 128
        .cfi_rel_offset x28, 136
        .cfi_rel_offset x29, 144
        .cfi_rel_offset x30, 152
        mov     x10, sp
        str     x10, [x0]
        mov     sp, x1
        // Same layout on both stacks: the unwind rules above hold on either side of this line.
        .globl  weft_context_suspended
        .hidden weft_context_suspended
weft_context_suspended:                 // a debugger that sets sp to a suspended sp and pc to here can unwind
        ldr     x10, [sp, #160]
        cmp     x9, x10
        b.eq    1f
        msr     fpcr, x10
1:      ldp     d8, d9, [sp, #0]
        ldp     d10, d11, [sp, #16]
        ldp     d12, d13, [sp, #32]
        ldp     d14, d15, [sp, #48]
        ldp     x19, x20, [sp, #64]
        ldp     x21, x22, [sp, #80]
        ldp     x23, x24, [sp, #96]
        ldp     x25, x26, [sp, #112]
        ldp     x27, x28, [sp, #128]
        ldp     x29, x30, [sp, #144]
        mov     x0, x2
        add     sp, sp, #176
        .cfi_def_cfa_offset 0
        .cfi_same_value x19
        .cfi_same_value x20
        .cfi_same_value x21
        .cfi_same_value x22
        .cfi_same_value x23
        .cfi_same_value x24
        .cfi_same_value x25
        .cfi_same_value x26
        .cfi_same_value x27
        .cfi_same_value x28
        .cfi_same_value x29
        .cfi_same_value x30
        ret
        .cfi_endproc
        .size   weft_context_switch, . - weft_context_switch

// Where a fresh context starts: x19 = entry, x0 = value.
        .globl  weft_context_start
        .hidden weft_context_start
        .type   weft_context_base, %function
        .p2align 4
weft_context_base:
        .cfi_startproc
        .cfi_undefined x30              // the end of the stack, to every unwinder
        nop                             // unwinders look up the address before a return address
weft_context_start:
        hint    #34                     // bti c
        blr     x19
        brk     #1
        .cfi_endproc
        .size   weft_context_base, . - weft_context_base

// Calls f(argument) so that unwinders take the suspended stack for the one that called.
        .globl  weft_context_walk
        .hidden weft_context_walk
        .type   weft_context_walk, %function
        .p2align 4
weft_context_walk:                      // x0 = suspended.sp, x1 = f, x2 = argument
        .cfi_startproc
        hint    #34                     // bti c
        stp     x19, x30, [sp, #-16]!
        .cfi_adjust_cfa_offset 16
        .cfi_rel_offset x19, 0
        .cfi_rel_offset x30, 8
        mov     x19, x0
        mov     x0, x2
        .cfi_remember_state
        .cfi_def_cfa x19, 176
        .cfi_offset x19, -112
        .cfi_offset x20, -104
        .cfi_offset x21, -96
        .cfi_offset x22, -88
        .cfi_offset x23, -80
        .cfi_offset x24, -72
        .cfi_offset x25, -64
        .cfi_offset x26, -56
        .cfi_offset x27, -48
        .cfi_offset x28, -40
        .cfi_offset x29, -32
        .cfi_offset x30, -24
        blr     x1
        .cfi_restore_state
        ldp     x19, x30, [sp], #16
        .cfi_adjust_cfa_offset -16
        .cfi_same_value x19
        .cfi_same_value x30
        ret
        .cfi_endproc
        .size   weft_context_walk, . - weft_context_walk

        .section .note.GNU-stack, "", %progbits
        .section .note.gnu.property, "a"
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000000, 4, 1, 0     // GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI
