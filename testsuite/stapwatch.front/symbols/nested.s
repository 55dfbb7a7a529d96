# Functions within others, as hand-written code has them, and code in two segments.
	.macro begin name
	.globl \name
	.type \name, @function
\name:
	.endm

	.text
	begin outer
	.zero 16
	begin inner
	.zero 8
	begin innermost
	.zero 8
	.size innermost, 8
	.zero 8
	.size inner, 24
	.zero 8
	begin inner_to_the_end
	.zero 16
	.size inner_to_the_end, 16
	.size outer, 64
	.zero 16
	begin one
	.zero 16
	begin over_its_end
	.zero 16
	.size one, 32
	.zero 16
	.size over_its_end, 32
	.zero 16

	.section .other, "ax", @progbits
	begin elsewhere
	.zero 32
	.size elsewhere, 32
	.section .more, "ax", @progbits
	.zero 8192
	begin farther
	.zero 32
	.size farther, 32
