/* SPDX-License-Identifier: MIT */
/* tests/apps/toolkit_gtk.c - a small GTK 4 program: a GtkGLArea that is drawn N times. */
#include <epoxy/gl.h>
#include <gtk/gtk.h>

static int frames = 10, drawn;

/* Not in the middle of rendering: the area would lose its context while GTK uses it. */
static gboolean
close_window(gpointer window)
{
	gtk_window_destroy(GTK_WINDOW(window));
	return G_SOURCE_REMOVE;
}

static gboolean
on_render(GtkGLArea *area, GdkGLContext *context, gpointer window)
{
	(void)area;
	(void)context;
	glClearColor(0.0f, 0.5f, 0.0f, 1.0f);
	glClear(GL_COLOR_BUFFER_BIT);
	/* On a busy machine one more may be drawn before the window is closed. */
	if (drawn < frames && ++drawn == frames)
		g_idle_add(close_window, window);
	return TRUE;
}

static gboolean
on_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
	(void)clock;
	(void)data;
	gtk_gl_area_queue_render(GTK_GL_AREA(widget));
	return G_SOURCE_CONTINUE;
}

static void
on_activate(GtkApplication *application, gpointer data)
{
	(void)data;
	GtkWidget *window = gtk_application_window_new(application);
	GtkWidget *area = gtk_gl_area_new();
	gtk_window_set_default_size(GTK_WINDOW(window), 160, 120);
	g_signal_connect(area, "render", G_CALLBACK(on_render), window);
	gtk_widget_add_tick_callback(area, on_tick, NULL, NULL);
	gtk_window_set_child(GTK_WINDOW(window), area);
	gtk_window_present(GTK_WINDOW(window));
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		frames = (int)g_ascii_strtoll(argv[1], NULL, 10);
	GtkApplication *application =
		gtk_application_new("org.passtally.ToolkitGtk", G_APPLICATION_NON_UNIQUE);
	g_signal_connect(application, "activate", G_CALLBACK(on_activate), NULL);
	int status = g_application_run(G_APPLICATION(application), 1, argv);
	g_object_unref(application);
	g_print("drawn %d\n", drawn);
	return status;
}
