/* What lab/peer_files.c and lab/peer_network.c share: reading the two files of an owner. */
#pragma once

#include "files/yaml.h"
#include "lab/peer_files.h"

/* A file being read. */
typedef struct peer_reader {
    const char *path;
    peer_files *out;
    const saddle_peer_options *with;
    saddle_error *error;
    const saddle_yaml_entry *edges; /* NULL: none given */
} peer_reader;

/* Fails with the position of an entry's value. */
#define peer_refuse(in, entry, ...) \
    saddle_fail_at((in)->error, (in)->path, (entry)->line, (entry)->column, __VA_ARGS__)

/* Fails if the address that begins an entry's value is not one. */
saddle_status peer_check_address(const peer_reader *in, const saddle_yaml_entry *entry,
                                 size_t length);
/* Reads a network.yml into in->out: its plan, members, graph and fingerprint. */
saddle_status peer_network_read(peer_files *out, const char *path, const saddle_peer_options *with,
                                saddle_error *error);
