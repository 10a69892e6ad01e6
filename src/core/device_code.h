/* Code that is compiled for the processor, by a C compiler, and for a graphics card, by nvcc. */
#pragma once

#ifdef __CUDACC__
#define SADDLE_BOTH static __host__ __device__ __forceinline__
#else
#define SADDLE_BOTH static inline
#endif
