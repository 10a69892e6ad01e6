/* Style and script of reports: the files of draw/report/, built into the program. */
#ifndef SADDLE_DRAW_REPORT_ASSETS_H
#define SADDLE_DRAW_REPORT_ASSETS_H

extern const char report_css[];
extern const char report_curves_js[];
extern const char report_chart_js[];
extern const char report_page_js[];

#endif
