/*
 * The rules of src/engines/membership.h and silence.c, for spin, which tries every order of events, steps, losses and
 * delays.
 *
 * Agents step in any order. A message may be lost, or arrive late, after newer ones were lost. An agent may start as
 * soon as its map has changed, or much later: when it does is not modelled, nor are iterates. The sums of
 * engines/running_sums.h are integers modulo SUMS, and every edge has weight 1: the invariant is one of rings.
 *
 * Without PEERS, the network is simulated: neighbours see at once that an agent is gone or an edge is cut, and when it
 * is healed. With PEERS, agents know only what they hear: an end that hears nothing calls its edge down, and the end
 * that has done so calls it up again when it hears the other; a process that comes back has lost its map, except how
 * often it has come back. A neighbour that is gone or cut off is noticed in the next step, one that works may be
 * taken for silent at any time: after how many seconds is not modelled.
 *
 * Safety, after every step. Of a set of agents with equal maps, of which none communicates with others under that map:
 *
 *   sum z_i + sum over edges of (s_j - r_ij) = sum of the estimates     what was sent and not used yet is counted
 *   r_ij is a value that s_j has had since j started over               so it will be used; ages tell
 *
 * With ROUNDS, every agent present steps once in each round, and QUIET rounds after the last event and loss, agents
 * that can reach each other have equal maps, which say who is present and, with PEERS, that an edge is up if and only
 * if its ends hear each other.
 *
 *   -DAGENTS=3 -DEDGES=2 (path) or 3 (triangle); 4 and 3 (path), 4 (ring); -DEVENTS=2
 *   -DBREAK=1..7: rules that are wrong (see below), which a search must find
 */
#ifndef AGENTS
#define AGENTS 3
#define EDGES 2
#endif
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef SUMS
#define SUMS 2
#endif
#ifndef QUIET
#define QUIET 8
#endif
#ifndef BREAK
#define BREAK 0
#endif
#define ANY_MAP 1    /* uses messages whatever their map */
#define KEEP_R 2     /* keeps what was received when it starts over */
#define KEEP_S 3     /* publishes its old sums until it starts */
#define NO_RESTART 4 /* does not start over when it takes in another map */
#define STAY_GONE 5  /* does not say that it is back */
#define LATEST_MAP 6 /* takes the map that came last, not the larger entries */
#define STAY_DOWN 7  /* with PEERS: does not call an edge up again */

/* Edge e connects agents e and e + 1, the last edge of a ring agents 0 and AGENTS - 1. */
#define ONE(e) (e)
#define TWO(e) (((e) + 1) % AGENTS)
#define NONE 255

/* A map has three bits for each agent, then for each edge: twice the incarnation, plus 1 if it is off. */
#define EDGE(e) (AGENTS + (e))
#define ENTRY(map, k) (((map) >> (3 * (k))) & 7)
#define OFF(map, k) (((map) >> (3 * (k))) & 1)
#define ADD(map, k, n) map = map + ((n) << (3 * (k)))

#define AT(i, j) ((i) * AGENTS + (j))
#define PAIRS (AGENTS * AGENTS)

int map[AGENTS];
byte started[AGENTS];
byte z[AGENTS]; /* before it starts, the estimate */
byte s[AGENTS]; /* what is published */
byte r[PAIRS];
byte age[AGENTS];   /* how often it started over */
byte r_age[PAIRS];  /* the sender's age when it published r; 0: nothing is received */
byte s_age[AGENTS]; /* the agent's age when it published s */
bool gone[AGENTS];
bool was_gone[AGENTS]; /* and has not stepped since */
bool cut[EDGES];
bool healed[2 * EDGES]; /* which an end has not seen yet */
bool called[2 * EDGES]; /* with PEERS: down by this end */

/* The message from j to i: AT(i, j). */
bool sent[PAIRS];
int sent_map[PAIRS];
byte sent_s[PAIRS];
byte sent_age[PAIRS];

byte events = EVENTS;
byte stepped; /* in this round: a bit for each agent */
byte quiet;   /* rounds since the last event or loss */
bool busy;    /* whether this round had any */

/* What is chosen for a step; 0 between steps. */
byte me, suspect;
bool get0, get1, put0, put1, push, start;
/* Within d_step only: these are no part of the state. */
hidden int new;
hidden byte e, j, k, degree, set, total, change, back, closed;

#define ESTIMATE(i) ((i) + 1)
#define LINKED(i, j, e) (!gone[i] && !gone[j] && !cut[e])
#define USED(map, i, j, e) (!OFF(map, EDGE(e)) && !OFF(map, i) && !OFF(map, j))

inline take_off(n)
{
    if
    :: OFF(new, n) == 0 -> ADD(new, n, 1)
    :: else
    fi
}

inline renew(n)
{
    assert(ENTRY(new, n) < 6);
    ADD(new, n, ((ENTRY(new, n) | 1) + 1) - ENTRY(new, n))
}

inline merge(other)
{
#if BREAK == LATEST_MAP
    new = other
#else
    k = 0;
    do
    :: k == AGENTS + EDGES -> break
    :: else ->
        if
        :: ENTRY(other, k) > ENTRY(new, k) -> ADD(new, k, ENTRY(other, k) - ENTRY(new, k))
        :: else
        fi;
        k++
    od
#endif
}

/* The other end of edge e, or NONE if this agent is not at it. */
inline other_end()
{
    if
    :: ONE(e) == me -> j = TWO(e)
    :: TWO(e) == me -> j = ONE(e)
    :: else -> j = NONE
    fi
}

/* An agent has at most two edges: get0 and put0 are for the first, get1 and put1 for the second. */
#define GET(e) ((TWO(e) == me && get0) || (ONE(e) == me && get1))
#define PUT(e) ((TWO(e) == me && put0) || (ONE(e) == me && put1))
#define END(e) (2 * (e) + (ONE(e) == me))

#ifdef PEERS
/* Calls an edge down, or up again: saddle_membership_watch(). */
inline watch()
{
    if
    :: back -> called[END(e)] = true
    :: else
    fi;
    if
    :: (!LINKED(me, j, e) || suspect == e) && OFF(new, EDGE(e)) == 0 ->
        take_off(EDGE(e));
        called[END(e)] = true
    :: LINKED(me, j, e) && suspect != e && called[END(e)] && GET(e) && BREAK != STAY_DOWN ->
        if
        :: OFF(new, EDGE(e)) == 1 -> renew(EDGE(e)); called[END(e)] = false
        :: OFF(new, EDGE(e)) == 0 && sent_map[AT(me, j)] == map[me] -> called[END(e)] = false
        :: else
        fi
    :: else
    fi
}

inline see_and_merge()
{
    back = was_gone[me];
    new = (back -> map[me] & (7 << (3 * me)) : map[me]);
    if
    :: back && BREAK != STAY_GONE -> renew(me)
    :: else
    fi;
    e = 0;
    do
    :: e == EDGES -> break
    :: else ->
        other_end();
        if
        :: j != NONE && GET(e) -> merge(sent_map[AT(me, j)])
        :: else
        fi;
        e++
    od;
    e = 0;
    do
    :: e == EDGES -> break
    :: else ->
        other_end();
        if
        :: j != NONE -> watch()
        :: else
        fi;
        e++
    od;
    change = (new != map[me]) || back;
#if BREAK == NO_RESTART
    change = back;
#endif
    map[me] = new
}
#else
inline see_and_merge()
{
    new = map[me];
    back = was_gone[me];
    if
    :: back && BREAK != STAY_GONE -> renew(me)
    :: else
    fi;
    e = 0;
    do
    :: e == EDGES -> break
    :: else ->
        other_end();
        if
        :: j != NONE ->
            if
            :: (back || healed[END(e)]) && !cut[e] && OFF(new, EDGE(e)) == 1 -> renew(EDGE(e))
            :: else
            fi;
            healed[END(e)] = false;
            if
            :: gone[j] -> take_off(j)
            :: else
            fi;
            if
            :: cut[e] || suspect == e -> take_off(EDGE(e))
            :: else
            fi;
            if
            :: GET(e) && sent_map[AT(me, j)] != map[me] -> merge(sent_map[AT(me, j)])
            :: else
            fi
        :: else
        fi;
        e++
    od;
#if BREAK != STAY_GONE
    if
    :: OFF(new, me) == 1 -> renew(me)
    :: else
    fi;
#endif
    change = (new != map[me]) || back;
#if BREAK == NO_RESTART
    change = back;
#endif
    map[me] = new
}
#endif

inline start_over()
{
    started[me] = 0;
    age[me]++;
    z[me] = ESTIMATE(me) % SUMS;
#if BREAK != KEEP_S
    s[me] = 0;
    s_age[me] = age[me];
#endif
#if BREAK != KEEP_R
    k = 0;
    do
    :: k == AGENTS -> break
    :: else -> r[AT(me, k)] = 0; r_age[AT(me, k)] = 0; k++
    od
#endif
}

/* Uses the messages with an equal map, then pushes. */
inline add_and_push()
{
    degree = 0;
    e = 0;
    do
    :: e == EDGES -> break
    :: else ->
        other_end();
        if
        :: j != NONE && USED(map[me], me, j, e) ->
            degree++;
            if
            :: GET(e) && (BREAK == ANY_MAP || sent_map[AT(me, j)] == map[me]) ->
                z[me] = (z[me] + sent_s[AT(me, j)] + SUMS - r[AT(me, j)]) % SUMS;
                r[AT(me, j)] = sent_s[AT(me, j)];
                r_age[AT(me, j)] = sent_age[AT(me, j)]
            :: else
            fi
        :: else
        fi;
        e++
    od;
    if
    :: push ->
        s[me] = (s[me] + z[me]) % SUMS;
        z[me] = (z[me] + degree * (SUMS - 1) * z[me]) % SUMS
    :: else
    fi
}

inline publish()
{
    e = 0;
    do
    :: e == EDGES -> break
    :: else ->
        other_end();
        if
        :: j != NONE ->
            if
            :: GET(e) || !LINKED(me, j, e) ->
                sent[AT(me, j)] = false; sent_map[AT(me, j)] = 0;
                sent_s[AT(me, j)] = 0; sent_age[AT(me, j)] = 0
            :: else
            fi;
            if
            :: PUT(e) && LINKED(me, j, e) ->
                sent[AT(j, me)] = true; sent_map[AT(j, me)] = map[me];
                sent_s[AT(j, me)] = s[me]; sent_age[AT(j, me)] = s_age[me]
            :: else
            fi
        :: else
        fi;
        e++
    od
}

#define IN(i) ((set >> (i)) & 1)

/* For every set of agents: whether they have equal maps, under which they communicate with no other. */
inline check()
{
    set = 0;
    do
    :: set == (1 << AGENTS) -> break
    :: set < (1 << AGENTS) && !IN(me) -> set++
    :: else ->
        new = -1;
        closed = true;
        total = 0;
        k = 0;
        do
        :: k == AGENTS -> break
        :: else ->
            if
            :: IN(k) ->
                closed = closed && !gone[k] && !was_gone[k] && (new == -1 || map[k] == new);
                new = map[k];
                total = total + z[k] + SUMS - ESTIMATE(k) % SUMS
            :: else
            fi;
            k++
        od;
        e = 0;
        do
        :: e == EDGES || !closed -> break
        :: else ->
            if
            :: USED(new, ONE(e), TWO(e), e) && IN(ONE(e)) != IN(TWO(e)) -> closed = false
            :: USED(new, ONE(e), TWO(e), e) && IN(ONE(e)) && IN(TWO(e)) ->
                k = AT(ONE(e), TWO(e));
                total = total + s[TWO(e)] + SUMS - r[k];
                assert(r_age[k] == 0 || r_age[k] == age[TWO(e)]);
                k = AT(TWO(e), ONE(e));
                total = total + s[ONE(e)] + SUMS - r[k];
                assert(r_age[k] == 0 || r_age[k] == age[ONE(e)])
            :: else
            fi;
            e++
        od;
        assert(!closed || total % SUMS == 0);
        set++
    od
}

/* Whether neighbours that are linked have equal maps, which are true of themselves and what they see. */
inline check_agreed()
{
    e = 0;
    do
    :: e == EDGES -> break
    :: else ->
        assert(!LINKED(ONE(e), TWO(e), e) || map[ONE(e)] == map[TWO(e)]);
#ifdef PEERS
        assert(gone[ONE(e)] || OFF(map[ONE(e)], EDGE(e)) == !LINKED(ONE(e), TWO(e), e));
        assert(gone[TWO(e)] || OFF(map[TWO(e)], EDGE(e)) == !LINKED(ONE(e), TWO(e), e));
#else
        assert(gone[ONE(e)] || (!OFF(map[ONE(e)], ONE(e)) && (!cut[e] || OFF(map[ONE(e)], EDGE(e)))));
        assert(gone[TWO(e)] || (!OFF(map[TWO(e)], TWO(e)) && (!cut[e] || OFF(map[TWO(e)], EDGE(e)))));
        assert(gone[ONE(e)] || !gone[TWO(e)] || OFF(map[ONE(e)], TWO(e)));
        assert(gone[TWO(e)] || !gone[ONE(e)] || OFF(map[TWO(e)], ONE(e)));
#endif
        e++
    od
}

#ifdef ROUNDS
#define READY(i) (!gone[i] && !((stepped >> (i)) & 1))
#define HAPPENED busy = true; quiet = 0
#else
#define READY(i) (!gone[i])
#define HAPPENED skip
#endif

inline choose_agent()
{
    if
    :: READY(0) -> me = 0
    :: READY(1) -> me = 1
    :: READY(2) -> me = 2
#if AGENTS > 3
    :: READY(3) -> me = 3
#endif
    fi
}

#define BEFORE ((me + AGENTS - 1) % AGENTS)
#define AFTER ((me + 1) % AGENTS)
#define HAS_BEFORE (me > 0 || EDGES == AGENTS)
#define HAS_AFTER (me < EDGES)
#define WAITING(from, e) (sent[AT(me, from)] && LINKED(me, from, e))

/* Loses a message: those that are read have come; those that are not put are lost. */
inline choose(flag, possible)
{
    if
    :: possible -> flag = true
    :: possible -> HAPPENED
    :: !(possible)
    fi
}

inline step()
{
    choose(get0, (HAS_BEFORE && WAITING(BEFORE, BEFORE)));
    choose(get1, (HAS_AFTER && WAITING(AFTER, me)));
    choose(put0, (HAS_BEFORE && LINKED(me, BEFORE, BEFORE)));
    choose(put1, (HAS_AFTER && LINKED(me, AFTER, me)));
    suspect = NONE;
    if
    :: true
    :: events > 0 && HAS_AFTER -> suspect = me; events--; HAPPENED
    :: events > 0 && HAS_BEFORE -> suspect = BEFORE; events--; HAPPENED
    fi;
#ifndef ROUNDS
    if
    :: true
    :: !started[me] -> start = true
    fi;
#endif
#ifdef HOLD
    if
    :: true
    :: started[me] || start -> push = true
    fi;
#else
    push = true;
#endif
    d_step {
        see_and_merge();
#ifdef ROUNDS
        stepped = stepped | (1 << me);
#else
        if
        :: change -> start_over()
        :: !change && start ->
            started[me] = 1; s[me] = 0; s_age[me] = age[me];
            add_and_push()
        :: !change && !start && started[me] -> add_and_push()
        :: else
        fi;
#endif
        was_gone[me] = false;
        publish();
#ifndef ROUNDS
        check();
#endif
        get0 = false; get1 = false; put0 = false; put1 = false; push = false; start = false;
        suspect = 0; me = 0
    }
}

inline happen()
{
    if
    :: !gone[0] -> gone[0] = true; was_gone[0] = true
    :: gone[0] -> gone[0] = false
    :: !gone[1] -> gone[1] = true; was_gone[1] = true
    :: gone[1] -> gone[1] = false
    :: !gone[2] -> gone[2] = true; was_gone[2] = true
    :: gone[2] -> gone[2] = false
#if AGENTS > 3
    :: !gone[3] -> gone[3] = true; was_gone[3] = true
    :: gone[3] -> gone[3] = false
#endif
    :: !cut[0] -> cut[0] = true; healed[0] = false; healed[1] = false
    :: cut[0] -> cut[0] = false; healed[0] = true; healed[1] = true
    :: !cut[1] -> cut[1] = true; healed[2] = false; healed[3] = false
    :: cut[1] -> cut[1] = false; healed[2] = true; healed[3] = true
    fi;
    events--;
    HAPPENED
}

#define ALL_STEPPED (!READY(0) && !READY(1) && !READY(2) && (AGENTS < 4 || !READY(AGENTS - 1)))

inline end_round()
{
    stepped = 0;
    quiet = (busy -> 0 : quiet + 1);
    busy = false;
    if
    :: quiet >= QUIET -> check_agreed(); e = 0; quiet = QUIET
    :: else
    fi
}

init
{
    d_step {
        me = 0;
        do
        :: me == AGENTS -> break
        :: else ->
            age[me] = 1; s_age[me] = 1; started[me] = 1;
            z[me] = ESTIMATE(me) % SUMS;
            me++
        od;
        me = 0
    }
    do
    :: atomic { events > 0 -> happen() }
    :: atomic { !ALL_STEPPED -> choose_agent(); step() }
#ifdef ROUNDS
    :: d_step { ALL_STEPPED -> end_round() }
#endif
    od
}
