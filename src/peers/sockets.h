/*
 * Connections with neighbours, by the module libsaddle-peer.so (module_peer.c), which is ZeroMQ: TCP connections that
 * are encrypted and authenticated both ways by CurveZMQ, and come back after they break. A process accepts only the
 * listed keys, and knows for each message which neighbour it comes from. Like other modules (engines/module.h), this
 * one calls no function of the library.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/module.h"

enum { SADDLE_KEY_BYTES = 32, SADDLE_ENDPOINT_SIZE = 320 };

/* The open connections of a process. Used by one thread. */
typedef struct saddle_sockets saddle_sockets;

/* A neighbour. */
typedef struct saddle_socket_peer {
    unsigned char key[SADDLE_KEY_BYTES]; /* its public key */
    const char *dial; /* its address, such as "tcp://10.0.0.2:7400"; NULL: it dials this process */
} saddle_socket_peer;

/* Borrowed during the call that takes them; the secret key is not kept outside ZeroMQ. */
typedef struct saddle_sockets_options {
    unsigned char public_key[SADDLE_KEY_BYTES];
    unsigned char secret_key[SADDLE_KEY_BYTES];
    const char *listen; /* where neighbours dial; port * is any free one. NULL: nobody dials */
    size_t peers;
    const saddle_socket_peer *peer;
    bool watch;        /* whether link() is called */
    size_t most_bytes; /* longer messages end their connection */
    int queue;         /* the most messages that wait in each direction */
} saddle_sockets_options;

/* How far the connection to a neighbour has come. */
typedef enum saddle_socket_link {
    SADDLE_LINK_NONE,   /* the neighbour dials */
    SADDLE_LINK_TRYING, /* its address has not answered */
    SADDLE_LINK_REACHED, /* something is there, but it has not proved that it has the neighbour's key */
    SADDLE_LINK_REFUSED, /* the neighbour refused this process's key */
    SADDLE_LINK_OPEN
} saddle_socket_link;

/* An attempt to connect that was refused. */
typedef struct saddle_refused_peer {
    uint64_t count; /* of all attempts so far */
    unsigned char key[SADDLE_KEY_BYTES];
    char address[64];
} saddle_refused_peer;

/* The table of the module. */
typedef struct saddle_sockets_table {
    saddle_module module;
    /* Opens the connections; false, with a reason, if the address cannot be used or memory is short. */
    bool (*open)(saddle_sockets **out, const saddle_sockets_options *options, char *reason,
                 size_t reason_size);
    /* Writes where this process can be dialled; "" if it does not listen. */
    void (*endpoint)(saddle_sockets *sockets, char out[SADDLE_ENDPOINT_SIZE]);
    /* Sends a message of two parts, which arrive as one, without waiting. Returns false if the neighbour cannot be
     * reached now, or too many messages wait; the message is then lost. */
    bool (*send)(saddle_sockets *sockets, size_t peer, const void *head, size_t head_bytes,
                 const void *body, size_t body_bytes);
    /* Waits for a message, at most so long; the bytes are borrowed until the next call. Returns false for none. */
    bool (*receive)(saddle_sockets *sockets, int milliseconds, size_t *peer,
                    const unsigned char **bytes, size_t *size);
    /* Returns how far the connection to a neighbour has come. */
    saddle_socket_link (*link)(saddle_sockets *sockets, size_t peer);
    /* Reports the last attempt that was refused; its count is 0 if there was none. */
    void (*refused)(saddle_sockets *sockets, saddle_refused_peer *out);
    /* Closes all; messages that wait are sent for at most so long. NULL is allowed. */
    void (*close)(saddle_sockets *sockets, int milliseconds);
} saddle_sockets_table;
