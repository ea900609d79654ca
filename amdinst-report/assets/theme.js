/* Dark or light: as the system has it, until somebody chooses. */
(() => {
const root = document.documentElement, dark = window.matchMedia("(prefers-color-scheme: dark)");
const setTheme = (name) => { root.dataset.theme = name; };
setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
document.getElementById("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
})();
