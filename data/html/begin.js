/* SPDX-License-Identifier: MIT */
begin();
