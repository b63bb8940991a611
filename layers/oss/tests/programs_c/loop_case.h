// SPDX-License-Identifier: Apache-2.0
// Included with a HEAD and its variable I: the iterations of the loop by each directive are those of the plain loop.
{
  struct seen plain = {0}, by_chunks = {0}, by_default = {0}, shared = {0}, both = {0};
  for (HEAD)
    see(&plain, (unsigned long long)I, sizeof I);
#pragma oss taskloop grainsize(3) shared(by_chunks)
  for (HEAD)
    see(&by_chunks, (unsigned long long)I, sizeof I);
#pragma oss taskloop shared(by_default)
  for (HEAD)
    see(&by_default, (unsigned long long)I, sizeof I);
#pragma oss task for chunksize(2) shared(shared)
  for (HEAD)
    see(&shared, (unsigned long long)I, sizeof I);
#pragma oss taskloop for grainsize(4) shared(both)
  for (HEAD)
    see(&both, (unsigned long long)I, sizeof I);
#pragma oss taskwait
  CHECK(same(&plain, &by_chunks) && same(&plain, &by_default) && same(&plain, &shared) &&
        same(&plain, &both));
  CHECK(plain.count == COUNT); // the head is the one that is meant
}
#undef HEAD
#undef I
#undef COUNT
