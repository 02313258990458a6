/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runner as PID 1 of kernel mode's initramfs: mounts, loads KVM's modules, then runs the tests
 * in a child and powers the machine off when that has ended, whatever became of it.
 */
#ifndef HOST_PID1_H
#define HOST_PID1_H

/* Files of the initramfs, written by kernel_mode.c. */
#define PID1_ARGS_FILE	  "/run.args"	  /* the runner's arguments, each ended by a NUL */
#define PID1_MODULES_FILE "/modules.load" /* paths of modules in loading order, one a line */

/*
 * Returns in the child only, with the runner's arguments in argc and argv (argv[0] included). The
 * parent reaps children, tells the outer runner the child's status, and powers off.
 */
void pid1_enter(int *argc, char ***argv);

#endif
