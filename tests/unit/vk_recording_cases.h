/* tests/unit/vk_recording_cases.h - scripts of calls, and what comes of them.
 *
 * Words and settings are those of vk_recording_world.c. In the stream "t0<" begins stamps in slot
 * 0, "a0<" stamps and statistics, "c0<" statistics alone; ">0" ends, "~0" gives statistics up.
 * What was recorded stands there by command buffer: passes (^ resuming, ~ suspended, ! uncounted,
 * @ target, tallies, flags, slot, workloads), labels, and what executed secondaries hold in braces.
 */
static const struct {
	const char *what, *setting, *script, *stream, *recorded;
} cases[] = {
	{ "one render pass", "", "0 B rp draw draw end E", "B t0< a1< rp draw draw end >1 >0 E",
	  "0: render@0 d2 v12 i4 n2 tc1; whole t0|" },
	{ "each way to draw is counted", "",
	  "0 B rp draw end rp indirect count multi indexed mesh attach end E",
	  "B t0< a1< rp draw end >1 a2< rp indirect count multi indexed mesh attach end "
	  ">2 >0 E",
	  "0: render@0 d1 v6 i2 n1 tc1; render@0 d9 v36 i8 k1 n6 ?7 indirect tc2; whole "
	  "t0|" },
	{ "copies to different images have no target", "",
	  "0 B copy1 copy1 copy2 dispatch dispatch E",
	  "B t0< a1< copy1 copy1 copy2 >1 a2< dispatch dispatch >2 >0 E",
	  "0: transfer c3 n3 tc1; compute x2 n2 tc2; whole t0|" },
	{ "without grouping each command is a pass", "nogroup", "0 B copy1 copy1 dispatch E",
	  "B t0< a1< copy1 >1 a2< copy1 >2 a3< dispatch >3 >0 E",
	  "0: transfer@1 c1 n1 tc1; transfer@1 c1 n1 tc2; compute x1 n1 tc3; whole t0|" },
	{ "a barrier is a border when asked to be", "barrier", "0 B dispatch barrier dispatch E",
	  "B t0< a1< dispatch >1 barrier a2< dispatch >2 >0 E",
	  "0: compute x1 n1 tc1; compute x1 n1 tc2; whole t0|" },
	{ "a barrier is none by itself", "", "0 B dispatch barrier dispatch E",
	  "B t0< a1< dispatch barrier dispatch >1 >0 E", "0: compute x2 n2 tc1; whole t0|" },
	{ "kinds of work, and flags", "", "0 B clear resolve read trace build other E",
	  "B t0< a1< clear resolve read >1 a2< trace >2 a3< build >3 a4< other >4 >0 E",
	  "0: transfer c2 k1 n3 resolve readback tc1; raytracing x1 n1 tc2; build n1 tc3;"
	  " other n1 tc4; whole t0|" },
	{ "labels are borders of work", "", "0 B [a dispatch ] dispatch [b rp draw end ] E",
	  "B [a t0< a1< dispatch ] >1 a2< dispatch >2 [b a3< rp draw end >3 ] >0 E",
	  "0: [a; compute x1 n1 tc1; ]; compute x1 n1 tc2; [b; render@0 d1 v6 i2 n1 tc3; "
	  "]; whole t0|" },
	{ "an inserted label is a border where a trigger waits", "trigger",
	  "0 B dispatch *m dispatch E", "B t0< a1< dispatch >1 *m a2< dispatch >2 >0 E",
	  "0: compute x1 n1 tc1; [m; ]; compute x1 n1 tc2; whole t0|" },
	{ "nothing recorded, nothing measured", "", "0 B E", "B E", "" },
	{ "for simultaneous use: no query at all", "", "0 Bs rp draw end dispatch E",
	  "B rp draw end dispatch E",
	  "0: render@0 d1 v6 i2 n1 simultaneous; compute x1 n1 simultaneous|" },
	{ "two subpasses without inherited queries: stamps alone", "",
	  "0 B rp2 draw next draw end E", "B t0< t1< rp2 draw next draw end >1 >0 E",
	  "0: render@0 d2 v12 i4 n2 t1; whole t0|" },
	{ "two subpasses with inherited queries", "inherit", "0 B rp2 draw next draw end E",
	  "B t0< a1< rp2 draw next draw end >1 >0 E", "0: render@0 d2 v12 i4 n2 tc1; whole t0|" },
	{ "two subpasses with views: stamps alone", "inherit", "0 B rp4 draw next draw end E",
	  "B t0< t1< rp4 draw next draw end >1 >0 E", "0: render@0 d2 v12 i4 n2 t1x2; whole t0|" },
	{ "views take as many slots", "", "0 B rp3 draw end E", "B t0< a1< rp3 draw end >1 >0 E",
	  "0: render@0 d1 v6 i2 n1 tc1x2; whole t0|" },
	{ "a secondary counts for itself", "", "4 Bc draw draw E 0 B rps x4 end E",
	  "B c0< draw draw >0 E B t1< t2< rps x4 end >2 >1 E",
	  "0: render@0 d2 v12 i4 n2 t2 + c0; {}; whole t1|" },
	{ "a secondary inherits", "inherit", "4 Bc draw draw E 0 B rps x4 end E",
	  "B draw draw E B t0< a1< rps x4 end >1 >0 E", "0: render@0 d2 v12 i4 n2 tc1; whole t0|" },
	{ "a secondary without host reset cannot count", "nohost",
	  "4 Bc draw draw E 0 B rps x4 end E", "B draw draw E B t0< t1< rps x4 end >1 >0 E",
	  "0: render!@0 d2 v12 i4 n2 t1; whole t0|" },
	{ "two secondaries, and one that is not known", "",
	  "4 Bc [in draw ] E 5 Bcv draw E 0 B rps x45 x? end E",
	  "B c0< [in draw ] >0 E B c1< draw >1 E B t3< t4< rps x45 x? end >4 >3 E",
	  "0: render!@0 d2 v12 i4 n2 ?39 incomplete t4; {[in; ]}; {}; whole t3|"
	  "4: [in; ]|" },
	{ "inline and secondaries: stamps alone", "", "4 Bc draw E 0 B rpm draw x4 end E",
	  "B c0< draw >0 E B t1< t2< rpm draw x4 end >2 >1 E",
	  "0: render@0 d2 v12 i4 n2 t2; {}; whole t1|" },
	{ "a later subpass is inline: no counters", "", "4 Bc draw E 0 B rp2s x4 next draw end E",
	  "B c0< draw >0 E B t1< t2< rp2s x4 next draw end >2 >1 E",
	  "0: render!@0 d2 v12 i4 n2 t2; {}; whole t1|" },
	{ "a secondary for simultaneous use cannot count", "", "4 Bcs draw E 0 B rps x4 end E",
	  "B draw E B t0< t1< rps x4 end >1 >0 E", "0: render!@0 d1 v6 i2 n1 t1; whole t0|" },
	{ "a secondary with passes of its own", "", "4 B rp draw end E 0 B dispatch x4 dispatch E",
	  "B a0< rp draw end >0 E B t1< a2< dispatch >2 x4 a3< dispatch >3 >1 E",
	  "0: compute x1 n1 tc2; {render@0 d1 v6 i2 n1 tc0}; compute x1 n1 tc3; whole t1|"
	  "4: render@0 d1 v6 i2 n1 tc0|" },
	{ "secondaries for simultaneous use are measured around", "",
	  "4 Bs rp draw end dispatch [l E 5 Bs copy E 0 B x45 E",
	  "B rp draw end dispatch [l E B copy E B t0< t1< x45 >1 >0 E",
	  "0: render d1 v6 i2 x1 c1 n3 t1; [l; whole t0|"
	  "4: render@0 d1 v6 i2 n1 simultaneous; compute x1 n1 simultaneous; [l|"
	  "5: transfer c1 n1 simultaneous|" },
	{ "the same with inherited queries", "inherit", "4 Bs rp draw end E 0 B x4 E",
	  "B rp draw end E B t0< a1< x4 >1 >0 E",
	  "0: render@0 d1 v6 i2 n1 tc1; whole t0|"
	  "4: render@0 d1 v6 i2 n1 simultaneous|" },
	{ "mixed with others they are not measured", "",
	  "4 Bs rp draw end E 5 B copy E 0 B x45 x? E",
	  "B rp draw end E B a0< copy >0 E B t1< x45 x? >1 E",
	  "0: {render@0 d1 v6 i2 n1 simultaneous}; {transfer c1 n1 tc0}; whole t1 broken|"
	  "4: render@0 d1 v6 i2 n1 simultaneous|"
	  "5: transfer c1 n1 tc0|" },
	{ "a secondary in a secondary ends its counting", "",
	  "4 Bc draw E 5 Bc draw x4 draw E 0 B rps x5 end E",
	  "B c0< draw >0 E B c1< draw >1 x4 draw E B t2< t3< rps x5 end >3 >2 E",
	  "0: render!@0 d3 v18 i6 n3 t3; {{} uncounted}; whole t2|"
	  "5: {} uncounted|" },
	{ "suspended and resumed in one command buffer", "",
	  "0 B dispatch drs draw end [m drr draw end ] dispatch E",
	  "B t0< a1< dispatch >1 t2< drs draw end [m drr draw end >2 ] a3< dispatch >3 >0"
	  " E",
	  "0: compute x1 n1 tc1; render@0 d2 v12 i4 n2 t2; [m; ]; compute x1 n1 tc3; "
	  "whole t0|" },
	{ "suspended twice", "", "0 B drs draw end drrs draw end drr draw end E",
	  "B t0< t1< drs draw end drrs draw end drr draw end >1 >0 E",
	  "0: render@0 d3 v18 i6 n3 t1; whole t0|" },
	{ "suspended across three command buffers", "",
	  "0 B dispatch drs draw end E 1 B drrs draw end E 2 B drr draw end dispatch E",
	  "B t0< a1< dispatch >1 t2< drs draw end E B drrs draw end E B drr draw end >3 "
	  "a4< dispatch >4 >5 E",
	  "0: compute x1 n1 tc1; render~@0 d1 v6 i2 n1 t2<; whole t0<|"
	  "1: ^render~@0 d1 v6 i2 n1|"
	  "2: ^render@0 d1 v6 i2 n1 t3>; compute x1 n1 tc4; whole t5>|" },
	{ "the end half needs the host's reset", "nohost", "0 B drs draw end E 1 B drr draw end E",
	  "B t0< t1< drs draw end E B drr draw end E",
	  "0: render~@0 d1 v6 i2 n1 t1<; whole t0<|"
	  "1: ^render@0 d1 v6 i2 n1|" },
	{ "a chain across secondaries", "",
	  "4 B drs draw end E 5 B drr draw end E 0 B x4 x5 dispatch E",
	  "B t0< drs draw end E B drr draw end >1 E B t2< x4 x5 a3< dispatch >3 >2 E",
	  "0: {render~@0 d1 v6 i2 n1 t0<}; {^render@0 d1 v6 i2 n1 t1>}; compute x1 n1 "
	  "tc3; whole t2|"
	  "4: render~@0 d1 v6 i2 n1 t0<|"
	  "5: ^render@0 d1 v6 i2 n1 t1>|" },
	{ "a chain across secondaries of one call", "",
	  "4 B drs draw end E 5 B drr draw end E 0 B x45 dispatch E",
	  "B t0< drs draw end E B drr draw end >1 E B t2< x45 a3< dispatch >3 >2 E",
	  "0: {render~@0 d1 v6 i2 n1 t0<}; {^render@0 d1 v6 i2 n1 t1>}; compute x1 n1 "
	  "tc3; whole t2|"
	  "4: render~@0 d1 v6 i2 n1 t0<|"
	  "5: ^render@0 d1 v6 i2 n1 t1>|" },
	{ "a chain that begins elsewhere", "", "4 B drr draw end E 0 B x4 E",
	  "B drr draw end >0 E B x4 >1 E",
	  "0: {^render@0 d1 v6 i2 n1 t0>}; whole t1>|"
	  "4: ^render@0 d1 v6 i2 n1 t0>|" },
	{ "dynamic rendering from secondaries", "", "4 Bc draw E 0 B drc x4 end drci x4 end E",
	  "B c0< draw >0 E B t1< t2< drc x4 end >2 t3< drci x4 end >3 >1 E",
	  "0: render@0 d1 v6 i2 n1 t2 + c0; {}; render@0 d1 v6 i2 n1 t3; {}; whole t1|" },
	{ "each draw by itself", "draw",
	  "0 B rp draw indirect attach end dispatch dispatch copy1 E",
	  "B t0< t1< rp a2< draw >2 a3< indirect >3 a4< attach >4 end >1 t5< a6< dispatch"
	  " >6 a7< dispatch >7 >5 t8< a9< copy1 >9 >8 >0 E",
	  "0: render@0 d5 v6 i2 k1 n3 ?6 indirect t1 (draw tc2) (draw indirect tc3) "
	  "(clear tc4); compute x2 n2 t5 (dispatch tc6) (dispatch tc7); transfer@1 c1 n1 "
	  "t8 (copy tc9); whole t0|" },
	{ "each draw by itself needs the host's reset", "draw nohost", "0 B rp draw end dispatch E",
	  "B t0< a1< rp draw end >1 a2< dispatch >2 >0 E",
	  "0: render@0 d1 v6 i2 n1 tc1; compute x1 n1 tc2; whole t0|" },
	{ "draws of secondaries stand in the primary's list", "draw",
	  "4 Bc draw E 5 Bcs draw E 6 Bc E 0 B rps x4 x6 end rps x5 end E",
	  "B a0< draw >0 E B draw E B E B t1< t2< rps x4 x6 end >2 t3< rps x5 end >3 >1 E",
	  "0: render@0 d1 v6 i2 n1 t2 (draw tc0 of another); {}; render!@0 d1 v6 i2 n1 "
	  "t3; whole t1|" },
	{ "draws of nested secondaries too", "draw", "5 Bc draw E 4 Bc draw x5 E 0 B rps x4 end E",
	  "B a0< draw >0 E B a1< draw >1 x5 E B t2< t3< rps x4 end >3 >2 E",
	  "0: render@0 d2 v12 i4 n2 t3 (draw tc1 of another) (draw tc0 of another); {{}};"
	  " whole t2|"
	  "4: {}|" },
	{ "draws where no query may be", "draw", "0 B rp3 draw tile draw tile- draw end E",
	  "B t0< t1< rp3 a3< draw >3 tile draw tile- a5< draw >5 end >1 >0 E",
	  "0: render!@0 d3 v18 i6 n3 t1x2 (draw tc3x2) (draw) (draw tc5x2); whole t0|" },
	{ "draws of protected command buffers", "draw protected", "0 B rp draw end E",
	  "B t0< t1< rp t2< draw >2 end >1 >0 E",
	  "0: render!@0 d1 v6 i2 n1 t1 (draw t2); whole t0|" },
	{ "draws inside the game's own query", "draw game", "0 B rp draw q draw - draw end E",
	  "B t0< t1< rp a2< draw >2 q t3< draw >3 - a4< draw >4 end >1 >0 E",
	  "0: render!@0 d3 v18 i6 n3 yielded t1 (draw tc2) (draw yielded t3) (draw tc4); "
	  "whole t0|" },
	{ "the ceiling of workloads", "draw max1",
	  "0 B rp draw draw draw draw draw draw draw draw draw end rp draw end E",
	  "B t0< t1< rp a2< draw >2 a3< draw >3 a4< draw >4 a5< draw >5 a6< draw >6 a7< "
	  "draw >7 a8< draw >8 a9< draw >9 draw end >1 rp draw end >0 E",
	  "0: render!@0 d9 v54 i18 n9 dropped t1 (draw tc2) (draw tc3) (draw tc4) (draw "
	  "tc5) (draw tc6) (draw tc7) (draw tc8) (draw tc9); whole t0 dropped1|" },
	{ "the game's query takes the counters of the open work", "game",
	  "0 B rp draw end dispatch q dispatch - dispatch copy E",
	  "B t0< t1< rp draw end >1 a2< dispatch ~2 q dispatch - dispatch >2 a3< copy >3 "
	  ">0 E",
	  "0: render@0 d1 v6 i2 n1 yielded t1; compute! x3 n3 yielded t2; transfer c1 n1 "
	  "tc3; whole t0|" },
	{ "the game's query was there before", "game", "0 B q dispatch - rp q draw - end E",
	  "B q t0< t1< dispatch - >1 t2< rp q draw - end >2 >0 E",
	  "0: compute x1 n1 yielded t1; render@0 d1 v6 i2 n1 yielded t2; whole t0|" },
	{ "an occlusion query is no conflict", "game", "0 B dispatch qo dispatch -o E",
	  "B t0< a1< dispatch qo dispatch -o >1 >0 E", "0: compute x2 n2 tc1; whole t0|" },
	{ "a secondary that runs inside the game's query", "game", "4 Bcq draw E 0 B rps x4 end E",
	  "B draw E B t0< t1< rps x4 end >1 >0 E",
	  "0: render!@0 d1 v6 i2 n1 yielded t1; whole t0|" },
	{ "granularity frame: one interval", "frame", "0 B rp draw end dispatch E",
	  "B a0< rp draw end dispatch >0 E", "0: render@0 d1 v6 i2 n1; compute x1 n1; whole tc0|" },
	{ "granularity frame: views end the counting", "frame", "0 B rp draw end rp3 draw end E",
	  "B a0< rp draw end ~0 rp3 draw end >0 E",
	  "0: render@0 d1 v6 i2 n1; render@0 d1 v6 i2 n1; whole t0 uncounted|" },
	{ "granularity frame: secondaries end the counting", "frame",
	  "4 Bc draw E 0 B dispatch rps x4 end E", "B draw E B a0< dispatch ~0 rps x4 end >0 E",
	  "0: compute x1 n1; render!@0 d1 v6 i2 n1; whole t0 uncounted|" },
	{ "granularity frame: inherited secondaries do not", "frame inherit",
	  "4 B dispatch E 0 B x4 rp draw end E", "B dispatch E B a0< x4 rp draw end >0 E",
	  "0: {compute x1 n1}; render@0 d1 v6 i2 n1; whole tc0|"
	  "4: compute x1 n1|" },
	{ "granularity frame: a chain is halves", "frame", "0 B dispatch drs end E",
	  "B a0< dispatch ~0 drs end E", "0: compute x1 n1; render~@0; whole t0< uncounted|" },
	{ "granularity frame: the game has statistics", "frame game", "0 B dispatch E",
	  "B t0< dispatch >0 E", "0: compute x1 n1; whole t0|" },
	{ "a video scope", "", "0 B dispatch vid vid- dispatch E",
	  "B t0< a1< dispatch >1 t2< vid vid- >2 a3< dispatch >3 >0 E",
	  "0: compute x1 n1 tc1; other t2; compute x1 n1 tc3; whole t0|" },
	{ "conditional rendering and transform feedback", "",
	  "0 B dispatch cond dispatch rp draw end rp end cond- rp tf draw tf- end E",
	  "B t0< a1< dispatch cond >1 a2< dispatch >2 a3< rp draw end >3 a4< rp end >4 "
	  "cond- a5< rp tf draw tf- end >5 >0 E",
	  "0: compute x1 n1 tc1; compute x1 n1 conditional tc2; render@0 d1 v6 i2 n1 "
	  "conditional tc3; render@0 tc4; render@0 d1 v6 i2 n1 transform_feedback tc5; "
	  "whole t0|" },
	{ "the ceiling of passes", "max1", "0 B rp draw end rp draw end dispatch E",
	  "B t0< a1< rp draw end >1 rp draw end dispatch >0 E",
	  "0: render@0 d1 v6 i2 n1 tc1; whole t0 dropped2|" },
	{ "without the api source", "nocalls", "0 B rp end dispatch E",
	  "B t0< a1< rp end >1 a2< dispatch >2 >0 E",
	  "0: render@0 ?7 tc1; compute x1 n1 tc2; whole t0|" },
	{ "an end that was never seen", "", "0 B rp draw rp draw end rp draw E",
	  "B t0< a1< rp draw >1 a2< rp draw end >2 a3< rp draw >3 >0 E",
	  "0: render@0 d1 v6 i2 n1 approximate tc1; render@0 d1 v6 i2 n1 tc2; render@0 d1"
	  " v6 i2 n1 approximate tc3; whole t0|" },
	{ "nothing is being recorded", "",
	  "draw rp end dispatch copy1 x4 [a ] vid vid- q - attach E",
	  "draw rp end dispatch copy1 x4 [a ] vid vid- q - attach E", "" },
	{ "protected: stamps alone", "protected", "0 B rp draw end dispatch E",
	  "B t0< t1< rp draw end >1 t2< dispatch >2 >0 E",
	  "0: render@0 d1 v6 i2 n1 t1; compute x1 n1 t2; whole t0|" },
	{ "recorded again, and reset", "", "0 B rp draw end E B dispatch E R",
	  "B t0< a1< rp draw end >1 >0 E B t2< a3< dispatch >3 >2 E", "" },
	{ "the pool is reset", "", "0 B rp draw end E B dispatch E 4 Bc draw E P",
	  "B t0< a1< rp draw end >1 >0 E B t2< a3< dispatch >3 >2 E B c4< draw >4 E", "" },
	{ "a secondary is recorded again after it was executed", "",
	  "4 Bc draw E 0 B rps x4 end E 4 Bc draw draw E",
	  "B c0< draw >0 E B t1< t2< rps x4 end >2 >1 E B c3< draw draw >3 E",
	  "0: render@0 d1 v6 i2 n1 t2 + c0; {}; whole t1|" },
	{ "the game's performance query may end last", "performance",
	  "0 B dispatch q dispatch - dispatch E",
	  "B a0< dispatch >0 q a1< dispatch >1 - a2< dispatch >2 E",
	  "0: compute x1 n1 tc0; compute x1 n1 tc1; compute x1 n1 tc2|" },
	{ "the game could have statistics queries: render passes yield", "game inherit",
	  "0 B dispatch rp2 draw end E", "B t0< a1< dispatch >1 t2< rp2 draw end >2 >0 E",
	  "0: compute x1 n1 tc1; render@0 d1 v6 i2 n1 yielded t2; whole t0|" },
	{ "labels inside and after a pass", "", "0 B rp draw [a end ] [b E",
	  "B t0< a1< rp draw [a end >1 ] [b >0 E",
	  "0: render@0 d1 v6 i2 n1 tc1; [a; ]; [b; whole t0|" },
	{ "conditional rendering of secondaries", "",
	  "4 Bc draw cond draw cond- E 0 B cond rps x4 end cond- E",
	  "B c0< draw cond draw cond- >0 E B cond t1< t2< rps x4 end >2 cond- >1 E",
	  "0: render@0 d2 v12 i4 n2 conditional t2 + c0; {}; whole t1|" },
	{ "not all subpasses are from secondaries", "", "0 B rps2 next draw end E",
	  "B t0< t1< rps2 next draw end >1 >0 E", "0: render!@0 d1 v6 i2 n1 t1; whole t0|" },
};
