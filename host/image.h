/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The images' files: where they are, and whether one is what its name says.
 */
#ifndef HOST_IMAGE_H
#define HOST_IMAGE_H

#include "arch.h"
#include "types.h"
#include "util/error.h"

/* What is booted, "DIR/x86_64/x86/counter.elf", "DIR/arm64/arm/counter.img". Malloced. */
char *image_path(const char *dir, enum arch arch, const char *name);

/* The ELF with symbols. Malloced. */
char *image_symbols_path(const char *dir, enum arch arch, const char *name);

/* What the image's source says of itself, in plain text. Malloced. */
char *image_story_path(const char *dir, enum arch arch, const char *name);

/* Whether images of that architecture were built into dir. */
bool image_dir_exists(const char *dir, enum arch arch);

/* -1 with err set when it is missing, cut short, or no image of that architecture. */
int image_check(const char *path, enum arch arch, struct error *err);

#endif
