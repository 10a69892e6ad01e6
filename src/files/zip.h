/*
 * Zip archives as far as .npz files need them, of any size: members are written as they are, and may be compressed by
 * deflate where they are read. Format: PKWARE's APPNOTE.
 */
#pragma once

#include "core/base.h"

/* A member, as the directory at the end of an archive describes it. */
typedef struct saddle_zip_member {
    char name[256];    /* the first bytes of it, terminated */
    size_t name_bytes; /* of the complete name */
    uint64_t bytes;
    uint64_t packed; /* bytes in the archive */
    uint64_t offset; /* of its header */
    uint32_t checksum;
    bool deflated;
    bool readable; /* not encrypted, and stored or deflated */
} saddle_zip_member;

/* An archive that is read: its members are listed one after the other. */
typedef struct saddle_zip {
    FILE *file;
    uint64_t count; /* of members that have not been listed */
} saddle_zip;

/* Finds the directory of an archive of `bytes` bytes; false if it has none. The file is borrowed. */
bool saddle_zip_open(saddle_zip *out, FILE *file, uint64_t bytes);
/* Lists the next member; false after the last one. If the directory is damaged, it ends there. */
bool saddle_zip_next(saddle_zip *zip, saddle_zip_member *out);
/* Returns whether a member has this name. */
bool saddle_zip_is(const saddle_zip_member *member, const char *name);
/* Opens a readable member, for reading once while nothing else reads the file; NULL without memory. Reading fails at
 * the end of a damaged one. */
FILE *saddle_zip_member_open(FILE *file, const saddle_zip_member *member);

/* Writes the header of a stored member at the stream's position, out->offset; its bytes follow. The checksum may be
 * written later, by saddle_zip_set_checksum(). */
void saddle_zip_write_header(FILE *stream, const saddle_zip_member *member);
/* Writes a checksum into the header of a member, and returns to the end of the stream. */
void saddle_zip_set_checksum(FILE *stream, const saddle_zip_member *member);
/* Writes the directory. */
void saddle_zip_write_directory(FILE *stream, const saddle_zip_member *member, size_t count);
