/* The interface FMI 3.0 around the functions above.

   One array x holds every variable by its value reference: the time, the states y = (q, v), their derivatives, the
   multipliers, the event indicators, then parameters and inputs. Co-simulation moves the states by the embedded method
   5(4) of Dormand and Prince and carries them back onto the constraints after each step. */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define API __declspec(dllexport)
#elif defined(__GNUC__)
#define API __attribute__((visibility("default")))
#else
#define API
#endif

enum { Y = 1, DY = 1 + 2 * N, LAM = 1 + 4 * N, EVENT = LAM + M, SLOT = EVENT + K, VALUES = SLOT + P };

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Status;
typedef uint32_t Reference;
typedef void (*Log)(void *, Status, const char *, const char *);
typedef enum { INSTANTIATED, INITIALIZATION, EVENTS, CONTINUOUS, STEPS, TERMINATED } Mode;

typedef struct {
    double x[VALUES];
    bool set[P + 1];     /* parameters that have a value */
    bool positive[K + 1];
    int64_t seen[K + 1]; /* occurrences of events */
    double reach[2];     /* largest position and velocity so far: what small means */
    double h, tolerance;
    bool fresh, exchange, early, drifted, stopped;
    Mode mode;
    void *environment;
    Log log;
} Instance;

static Status refuse(const Instance *s, const char *words)
{
    if (s && s->log) s->log(s->environment, ERROR, "logStatusError", words);
    return ERROR;
}

static double largest(const double *a, int n)
{
    double found = 0.0;
    for (int i = 0; i < n; i++) found = fmax(found, fabs(a[i]));
    return found;
}

static bool finite_all(const double *a, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(a[i])) return false;
    return true;
}

/* Derivatives of the states; lam has the multipliers. */
static bool derivatives(const Instance *s, double t, const double *y, double *dy, double *lam)
{
    memcpy(dy, y + N, N * sizeof(double));
    return zw_accelerations(t, y, y + N, s->x + SLOT, dy + N, lam) == 0 && finite_all(dy, 2 * N);
}

static bool events_at(const Instance *s, double t, const double *y, double *values)
{
    return zw_events(t, y, y + N, s->x + SLOT, values) == 0;
}

/* All that follows from time, states, parameters and inputs. */
static bool refresh(Instance *s)
{
    if (s->fresh) return true;
    if (!derivatives(s, s->x[0], s->x + Y, s->x + DY, s->x + LAM)) return false;
    if (!events_at(s, s->x[0], s->x + Y, s->x + EVENT)) return false;
    s->fresh = true;
    return true;
}

/* How far positions and velocities are from the constraints, by one step of Newton's method. */
static bool distances(const Instance *s, double t, const double *y, double *position, double *velocity)
{
    double change[N + 1], landed[N + 1];
    if (zw_shift(t, y, y + N, s->x + SLOT, change) != 0) return false;
    if (zw_land(t, y, y + N, s->x + SLOT, landed) != 0) return false;
    *position = largest(change, N);
    for (int i = 0; i < N; i++) landed[i] -= y[N + i];
    *velocity = largest(landed, N);
    return true;
}

/* Carry states onto the constraints, the shortest way in the metric of the masses. */
static bool project(const Instance *s, double t, double *y)
{
    double change[N + 1];
    if (HELD == 0) return true;
    for (int tries = 0;; tries++) {
        if (tries == 30 || zw_shift(t, y, y + N, s->x + SLOT, change) != 0 || !finite_all(change, N)) return false;
        for (int i = 0; i < N; i++) y[i] += change[i];
        if (largest(change, N) <= 1e-10 * fmax(s->reach[0], largest(y, N))) break; /* the next one is its square */
    }
    if (zw_land(t, y, y + N, s->x + SLOT, change) != 0 || !finite_all(change, N)) return false;
    memcpy(y + N, change, N * sizeof(double));
    return true;
}

static void remember(Instance *s)
{
    s->reach[0] = fmax(s->reach[0], largest(s->x + Y, N));
    s->reach[1] = fmax(s->reach[1], largest(s->x + Y + N, N));
}

/* Whether an event that ends the motion lies between the last point that was looked at and these values. */
static bool ends(const Instance *s, const double *values)
{
    for (int k = 0; k < K; k++) {
        bool now = values[k] > 0.0;
        if (!stops[k] || now == s->positive[k] || (directions[k] != 0 && (directions[k] > 0) != now)) continue;
        if (counts[k] == 0 || s->seen[k] + 1 == counts[k]) return true;
    }
    return false;
}

static void look(Instance *s, const double *values)
{
    if (ends(s, values)) s->stopped = true;
    for (int k = 0; k < K; k++) {
        bool now = values[k] > 0.0;
        if (now != s->positive[k] && (directions[k] == 0 || (directions[k] > 0) == now)) s->seen[k]++;
        s->positive[k] = now;
    }
}

/* One step of Dormand and Prince; the error is in parts of what is allowed. */
static bool attempt(const Instance *s, double h, double *y, double *error)
{
    static const double nodes[7] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0};
    static const double a[7][6] = {
        {0.0},
        {1.0 / 5},
        {3.0 / 40, 9.0 / 40},
        {44.0 / 45, -56.0 / 15, 32.0 / 9},
        {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
        {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
        {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
    };
    static const double e[7] = {71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
    const double t = s->x[0], *start = s->x + Y;
    double k[7][2 * N], lam[M + 1], size[2];
    for (int stage = 0; stage < 7; stage++) {
        for (int i = 0; i < 2 * N; i++) {
            y[i] = 0.0;
            for (int j = 0; j < stage; j++) y[i] += a[stage][j] * k[j][i];
            y[i] = start[i] + h * y[i];
        }
        if (!derivatives(s, t + nodes[stage] * h, y, k[stage], lam)) return false;
    }
    size[0] = fmax(s->reach[0], largest(y, N));
    size[1] = fmax(s->reach[1], largest(y + N, N));
    *error = 0.0;
    for (int i = 0; i < 2 * N; i++) {
        double own = 0.0;
        for (int j = 0; j < 7; j++) own += e[j] * k[j][i];
        own = fabs(h * own);
        if (own > 0.0) *error = fmax(*error, own / (s->tolerance * size[i / N]));
    }
    return project(s, t + h, y);
}

/* Go on until a time, or until an event that ends the motion. */
static Status move(Instance *s, double end)
{
    double y[2 * N], values[K + 1], error;
    while (s->x[0] < end && !s->stopped) {
        const double left = end - s->x[0];
        bool last = s->h >= left * (1.0 - 1e-12);
        double h = last ? left : s->h;
        if (s->x[0] + h == s->x[0]) return refuse(s, "the steps became too short: a singular point, or a jump");
        bool sound = attempt(s, h, y, &error) && events_at(s, s->x[0] + h, y, values);
        if (!sound || !(error <= 1.0)) {
            s->h = h * (sound && isfinite(error) ? fmax(0.1, 0.9 * pow(error, -0.2)) : 0.1);
            continue;
        }
        double factor = error > 0.0 ? fmin(5.0, 0.9 * pow(error, -0.2)) : 5.0;
        s->h = last ? fmax(s->h, h * factor) : h * factor;
        if (ends(s, values)) { /* locate it: the shortest step that is past it */
            double before = 0.0, past = h, middle;
            while (middle = 0.5 * (before + past), middle > before && middle < past && past - before > 1e-14 * h) {
                bool good = attempt(s, middle, y, &error) && events_at(s, s->x[0] + middle, y, values);
                if (good && ends(s, values)) past = middle;
                else before = middle;
            }
            last = last && past == h;
            h = past;
            if (!attempt(s, h, y, &error) || !events_at(s, s->x[0] + h, y, values))
                return refuse(s, "no sound step to an event");
        }
        s->x[0] = last ? end : s->x[0] + h;
        memcpy(s->x + Y, y, sizeof y);
        s->fresh = false;
        remember(s);
        look(s, values);
    }
    return OK;
}

static void begin(Instance *s)
{
    memset(s->x, 0, sizeof s->x);
    memset(s->seen, 0, sizeof s->seen);
    memcpy(s->x + Y, starts, 2 * N * sizeof(double));
    for (int i = 0; i < P; i++) {
        s->x[SLOT + i] = starts[2 * N + i];
        s->set[i] = known[i] != 0;
    }
    s->reach[0] = s->reach[1] = s->h = 0.0;
    s->tolerance = 1e-9;
    s->fresh = s->drifted = s->stopped = false;
    s->mode = INSTANTIATED;
}

static Instance *instantiate(const char *token, bool exchange, void *environment, Log log)
{
    Instance *s = NULL;
    if (token && strcmp(token, TOKEN) == 0) s = calloc(1, sizeof *s);
    if (!s) {
        if (log) log(environment, ERROR, "logStatusError", "the instantiation token is another model's, or no memory");
        return NULL;
    }
    s->exchange = exchange;
    s->environment = environment;
    s->log = log;
    begin(s);
    return s;
}

API const char *fmi3GetVersion(void) { return "3.0"; }

API Status fmi3SetDebugLogging(void *instance, bool on, size_t count, const char *const categories[])
{
    (void)on, (void)count, (void)categories;
    return instance ? OK : ERROR;
}

API void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                       bool logging, void *environment, Log log)
{
    (void)name, (void)resources, (void)visible, (void)logging;
    return instantiate(token, true, environment, log);
}

API void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                      bool logging, bool events, bool early, const Reference required[], size_t count,
                                      void *environment, Log log, void (*update)(void))
{
    Instance *s = instantiate(token, false, environment, log);
    (void)name, (void)resources, (void)visible, (void)logging, (void)events, (void)required, (void)count, (void)update;
    if (s) s->early = early;
    return s;
}

API void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources, bool visible,
                                            bool logging, void *environment, Log log, void (*update)(void),
                                            void (*lock)(void), void (*unlock)(void))
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)update, (void)lock, (void)unlock;
    if (log) log(environment, ERROR, "logStatusError", "there is no scheduled execution here");
    return NULL;
}

API void fmi3FreeInstance(void *instance) { free(instance); }

API Status fmi3EnterInitializationMode(void *instance, bool given, double tolerance, double start, bool stops_too,
                                       double stop)
{
    Instance *s = instance;
    (void)stops_too, (void)stop;
    if (!s || s->mode != INSTANTIATED) return refuse(s, "initialization begins after instantiation, or a reset");
    if (!isfinite(start)) return refuse(s, "the start time is not finite");
    if (given && tolerance > 0.0) s->tolerance = fmax(1e-13, fmin(1e-9, tolerance));
    s->x[0] = start;
    s->fresh = false;
    s->mode = INITIALIZATION;
    return OK;
}

API Status fmi3ExitInitializationMode(void *instance)
{
    Instance *s = instance;
    char words[120];
    if (!s || s->mode != INITIALIZATION) return refuse(s, "the instance is not being initialized");
    for (int i = 0; i < P; i++)
        if (!s->set[i]) {
            snprintf(words, sizeof words, "the parameter with value reference %d has no value: set it", SLOT + i);
            return refuse(s, words);
        }
    remember(s);
    if (!project(s, s->x[0], s->x + Y))
        return refuse(s, "no state that satisfies the constraints is near the start, or some of them say the same "
                         "twice: leave those out before exporting");
    s->reach[0] = s->reach[1] = 0.0;
    remember(s);
    s->fresh = false;
    if (!refresh(s)) return refuse(s, "the equations have no unique finite solution at the start");
    for (int k = 0; k < K; k++) s->positive[k] = s->x[EVENT + k] > 0.0;
    s->mode = s->exchange ? EVENTS : STEPS;
    return OK;
}

API Status fmi3EnterEventMode(void *instance)
{
    Instance *s = instance;
    if (!s || !s->exchange || (s->mode != CONTINUOUS && s->mode != EVENTS)) return refuse(s, "no event mode from here");
    s->mode = EVENTS;
    return OK;
}

API Status fmi3Terminate(void *instance)
{
    Instance *s = instance;
    if (!s) return ERROR;
    s->mode = TERMINATED;
    return OK;
}

API Status fmi3Reset(void *instance)
{
    if (!instance) return ERROR;
    begin(instance);
    return OK;
}

API Status fmi3GetFloat64(void *instance, const Reference references[], size_t count, double values[], size_t room)
{
    Instance *s = instance;
    if (!s || room != count) return refuse(s, "every variable has one value");
    for (size_t i = 0; i < count; i++) {
        const Reference at = references[i];
        if (at >= VALUES) return refuse(s, "there is no such value reference");
        if (at >= DY && at < SLOT && !refresh(s)) return refuse(s, "the equations have no unique finite solution here");
        values[i] = s->x[at];
    }
    return OK;
}

API Status fmi3SetFloat64(void *instance, const Reference references[], size_t count, const double values[], size_t room)
{
    Instance *s = instance;
    if (!s || room != count) return refuse(s, "every variable has one value");
    const bool early = s->mode == INSTANTIATED || s->mode == INITIALIZATION;
    for (size_t i = 0; i < count; i++) {
        const Reference at = references[i];
        const bool input = at >= SLOT && at < VALUES && inputs[at - SLOT];
        const bool start = (at >= Y && at < DY) || (at >= SLOT && at < VALUES);
        if (!input && !(start && early)) return refuse(s, "this variable can't be set, or not any more");
        if (!isfinite(values[i])) return refuse(s, "a value is not finite");
        s->x[at] = values[i];
        if (at >= SLOT) s->set[at - SLOT] = true;
    }
    s->fresh = false;
    return OK;
}

/* Model exchange. */
API Status fmi3EnterContinuousTimeMode(void *instance)
{
    Instance *s = instance;
    if (!s || !s->exchange || s->mode != EVENTS) return refuse(s, "continuous time begins after an event");
    s->mode = CONTINUOUS;
    return OK;
}

API Status fmi3SetTime(void *instance, double time)
{
    Instance *s = instance;
    if (!s || !s->exchange) return refuse(s, "the time is set in model exchange alone");
    s->x[0] = time;
    s->fresh = false;
    return OK;
}

API Status fmi3SetContinuousStates(void *instance, const double states[], size_t count)
{
    Instance *s = instance;
    if (!s || !s->exchange || count != 2 * N) return refuse(s, "the number of states is another, or no model exchange");
    memcpy(s->x + Y, states, count * sizeof(double));
    s->fresh = false;
    return OK;
}

API Status fmi3GetContinuousStates(void *instance, double states[], size_t count)
{
    Instance *s = instance;
    if (!s || count != 2 * N) return refuse(s, "the number of states is another");
    memcpy(states, s->x + Y, count * sizeof(double));
    return OK;
}

API Status fmi3GetContinuousStateDerivatives(void *instance, double values[], size_t count)
{
    Instance *s = instance;
    if (!s || count != 2 * N) return refuse(s, "the number of states is another");
    if (!refresh(s)) return refuse(s, "the equations have no unique finite solution here");
    memcpy(values, s->x + DY, count * sizeof(double));
    return OK;
}

API Status fmi3GetNominalsOfContinuousStates(void *instance, double values[], size_t count)
{
    if (!instance || count != 2 * N) return refuse(instance, "the number of states is another");
    for (size_t i = 0; i < count; i++) values[i] = 1.0;
    return OK;
}

API Status fmi3GetEventIndicators(void *instance, double values[], size_t count)
{
    Instance *s = instance;
    if (!s || count != K) return refuse(s, "the number of event indicators is another");
    if (!refresh(s)) return refuse(s, "the equations have no unique finite solution here");
    if (K > 0) memcpy(values, s->x + EVENT, count * sizeof(double));
    return OK;
}

API Status fmi3GetNumberOfEventIndicators(void *instance, size_t *count)
{
    if (!instance) return ERROR;
    *count = K;
    return OK;
}

API Status fmi3GetNumberOfContinuousStates(void *instance, size_t *count)
{
    if (!instance) return ERROR;
    *count = 2 * N;
    return OK;
}

API Status fmi3CompletedIntegratorStep(void *instance, bool kept, bool *event, bool *terminate)
{
    Instance *s = instance;
    double position = 0.0, velocity = 0.0;
    (void)kept;
    if (!s || s->mode != CONTINUOUS) return refuse(s, "steps are completed in continuous time");
    if (!refresh(s)) return refuse(s, "the equations have no unique finite solution here");
    remember(s);
    look(s, s->x + EVENT);
    if (HELD > 0 && !distances(s, s->x[0], s->x + Y, &position, &velocity))
        return refuse(s, "the constraints are not independent here");
    const double allowed = fmax(1e-10, 100.0 * s->tolerance);
    s->drifted = position > allowed * s->reach[0] || velocity > allowed * s->reach[1];
    *event = s->drifted;
    *terminate = s->stopped;
    return OK;
}

API Status fmi3UpdateDiscreteStates(void *instance, bool *again, bool *terminate, bool *nominals, bool *states,
                                    bool *defined, double *next)
{
    Instance *s = instance;
    if (!s || (s->mode != EVENTS && s->mode != STEPS)) return refuse(s, "there is no event to treat");
    *again = *nominals = *states = *defined = false;
    *next = 0.0;
    if (s->drifted) {
        if (!project(s, s->x[0], s->x + Y)) return refuse(s, "the states are too far from the constraints");
        s->drifted = false;
        s->fresh = false;
        *states = true;
    }
    if (!refresh(s)) return refuse(s, "the equations have no unique finite solution here");
    look(s, s->x + EVENT);
    *terminate = s->stopped;
    return OK;
}

/* Co-simulation. */
API Status fmi3EnterStepMode(void *instance)
{
    Instance *s = instance;
    return s && !s->exchange && s->mode == STEPS ? OK : refuse(s, "there is no event mode to leave");
}

API Status fmi3DoStep(void *instance, double from, double size, bool no_return, bool *event, bool *terminate,
                      bool *early, double *reached)
{
    Instance *s = instance;
    (void)no_return;
    if (!s || s->exchange || s->mode != STEPS) return refuse(s, "steps are done in co-simulation, after initialization");
    if (!(size >= 0.0) || !isfinite(from + size)) return refuse(s, "the size of a step must be finite and not negative");
    if (fabs(from - s->x[0]) > 1e-9 * (fabs(from) + size)) return refuse(s, "a step begins where the last one ended");
    if (s->h <= 0.0) s->h = 0.1 * size;
    const Status status = move(s, from + size);
    *event = false;
    *terminate = s->stopped;
    *early = s->early && s->stopped && s->x[0] < from + size;
    *reached = s->x[0];
    return status;
}

/* What isn't here: other types, clocks, saved states, derivatives of derivatives. */
#define NONE(name, arguments) \
    API Status name arguments { return refuse(instance, "this model has nothing of this kind"); }
#define TYPE(name, type)                                                                                              \
    API Status fmi3Get##name(void *instance, const Reference references[], size_t count, type values[], size_t room)   \
    {                                                                                                                 \
        (void)references, (void)values, (void)room;                                                                   \
        return count == 0 ? OK : refuse(instance, "every variable is a Float64");                                     \
    }                                                                                                                 \
    API Status fmi3Set##name(void *instance, const Reference references[], size_t count, const type values[],         \
                             size_t room)                                                                             \
    {                                                                                                                 \
        (void)references, (void)values, (void)room;                                                                   \
        return count == 0 ? OK : refuse(instance, "every variable is a Float64");                                     \
    }
TYPE(Float32, float)
TYPE(Int8, int8_t)
TYPE(UInt8, uint8_t)
TYPE(Int16, int16_t)
TYPE(UInt16, uint16_t)
TYPE(Int32, int32_t)
TYPE(UInt32, uint32_t)
TYPE(Int64, int64_t)
TYPE(UInt64, uint64_t)
TYPE(Boolean, bool)

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define REFERENCES void *instance, const Reference references[], size_t count
NONE(fmi3GetString, (REFERENCES, const char *values[], size_t room))
NONE(fmi3SetString, (REFERENCES, const char *const values[], size_t room))
NONE(fmi3GetBinary, (REFERENCES, size_t sizes[], const uint8_t *values[], size_t room))
NONE(fmi3SetBinary, (REFERENCES, const size_t sizes[], const uint8_t *const values[], size_t room))
NONE(fmi3GetClock, (REFERENCES, bool values[]))
NONE(fmi3SetClock, (REFERENCES, const bool values[]))
NONE(fmi3GetNumberOfVariableDependencies, (void *instance, Reference reference, size_t *count))
NONE(fmi3GetVariableDependencies, (void *instance, Reference dependent, size_t elements[], Reference references[],
                                   size_t other[], int kinds[], size_t count))
NONE(fmi3GetFMUState, (void *instance, void **state))
NONE(fmi3SetFMUState, (void *instance, void *state))
NONE(fmi3FreeFMUState, (void *instance, void **state))
NONE(fmi3SerializedFMUStateSize, (void *instance, void *state, size_t *size))
NONE(fmi3SerializeFMUState, (void *instance, void *state, uint8_t bytes[], size_t size))
NONE(fmi3DeserializeFMUState, (void *instance, const uint8_t bytes[], size_t size, void **state))
NONE(fmi3GetDirectionalDerivative,
     (void *instance, const Reference unknowns[], size_t unknown_count, const Reference knowns[], size_t known_count,
      const double seed[], size_t seeds, double values[], size_t room))
NONE(fmi3GetAdjointDerivative,
     (void *instance, const Reference unknowns[], size_t unknown_count, const Reference knowns[], size_t known_count,
      const double seed[], size_t seeds, double values[], size_t room))
NONE(fmi3GetOutputDerivatives, (REFERENCES, const int32_t orders[], double values[], size_t room))
NONE(fmi3EnterConfigurationMode, (void *instance))
NONE(fmi3ExitConfigurationMode, (void *instance))
NONE(fmi3GetIntervalDecimal, (REFERENCES, double intervals[], int qualifiers[]))
NONE(fmi3GetIntervalFraction, (REFERENCES, uint64_t counters[], uint64_t resolutions[], int qualifiers[]))
NONE(fmi3GetShiftDecimal, (REFERENCES, double shifts[]))
NONE(fmi3GetShiftFraction, (REFERENCES, uint64_t counters[], uint64_t resolutions[]))
NONE(fmi3SetIntervalDecimal, (REFERENCES, const double intervals[]))
NONE(fmi3SetIntervalFraction, (REFERENCES, const uint64_t counters[], const uint64_t resolutions[]))
NONE(fmi3SetShiftDecimal, (REFERENCES, const double shifts[]))
NONE(fmi3SetShiftFraction, (REFERENCES, const uint64_t counters[], const uint64_t resolutions[]))
NONE(fmi3EvaluateDiscreteStates, (void *instance))
NONE(fmi3ActivateModelPartition, (void *instance, Reference clock, double time))
