/* saddle: decentralized constrained min-max learning from the command line. */
#include "cli.h"

int main(int argc, char **argv)
{
    return saddle_main(argc, argv);
}
