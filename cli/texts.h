/* The files of texts/, which the build embeds (cmake/Embed.cmake). */
#ifndef CLI_TEXTS_H
#define CLI_TEXTS_H

extern const char cli_completion_bash[];
extern const char cli_completion_zsh[];
extern const char cli_completion_fish[];
/* The sections of the manual page before COMMANDS, and those after EXIT STATUS. */
extern const char cli_manual_begin[];
extern const char cli_manual_end[];

#endif
