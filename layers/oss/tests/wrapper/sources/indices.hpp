// SPDX-License-Identifier: Apache-2.0
inline bool is_less(int a, int b) { return a < b; }
struct pair { int first, second; pair(); };
inline bool operator<(const pair &a, const pair &b) { return a.first < b.first; }
int g_after_operator = 1;
inline pair::pair() : first{1}, second{1} {}
int g_after_constructor = 1;
